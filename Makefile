# Development commands. `make` alone lists them.

SHELL := bash
GO ?= go

# Flags that .ci/run adds to the one run of the tests (coverage, shuffling).
TESTFLAGS ?=

# The linters are pinned in a module of their own, so that nobody who uses
# idemgen ever sees them in a module graph.
LINTER := $(GO) tool -modfile=tools/go.mod golangci-lint

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: demo
demo: ## Generate the wrappers of the examples and run examples/payments
	$(GO) run ./cmd/idemgen ./examples/...
	$(GO) run ./examples/payments

.PHONY: test
test: postgresql ## Run all tests with the race detector, PostgreSQL included
	$(GO) test -race -timeout 8m $(TESTFLAGS) ./...

.PHONY: lint
lint: ## Run the linters and look at the formatting
	$(LINTER) run ./...
	$(LINTER) fmt --diff

.PHONY: bench
bench: ## Measure the in-process paths against singleflight, beside their bars
	$(GO) run ./internal/bench

.PHONY: bench-generate
bench-generate: ## Measure generating beside go list, and beside moq, mockery and gowrap
	$(GO) run ./internal/bench/generate

.PHONY: bench-postgres
bench-postgres: postgresql ## Measure the PostgreSQL backend against statements by hand and pgbench
	@mkdir -p docs
	cd tools/bench && $(GO) run ./postgres -plot ../../docs/bench-postgres.svg

.PHONY: bench-upkeep
bench-upkeep: postgresql ## Measure what a million executions leave in PostgreSQL, and their sweep
	cd tools/bench && $(GO) run ./postgres -upkeep 1000000

.PHONY: generate
generate: ## Write every generated file again
	$(GO) generate ./...
	$(GO) run ./cmd/idemgen ./...

.PHONY: postgresql
postgresql:
	@.ci/postgresql
