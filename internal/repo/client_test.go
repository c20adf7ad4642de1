package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// clientModule makes a module of somebody else that has the tool, and returns
// its folder. It requires what `go get -tool` would add: what this module does.
func clientModule(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", text(t, "go.mod"))
	write(t, dir, "go.sum", text(t, "go.sum"))
	command(t, dir, "mod", "edit", "-module=example.com/shop",
		"-require="+modulePath+"@v0.0.0", "-replace="+modulePath+"="+here, "-tool="+modulePath+"/cmd/idemgen")
	return dir
}

// write writes a file of a client module.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// command runs the go command in a client module and returns what it printed.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// What the README tells a stranger to do, done.
func TestAStrangersModule(t *testing.T) {
	dir := clientModule(t)
	write(t, dir, "payments/payments.go", `package payments

import "context"

//go:generate go tool idemgen

type Payments interface {
	//idem:key order
	Charge(ctx context.Context, order string, cents int64) (string, error)
}
`)
	write(t, dir, "main.go", `package main

import (
	"context"
	"fmt"

	"example.com/shop/payments"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

type processor struct{ charges int }

func (p *processor) Charge(context.Context, string, int64) (string, error) {
	p.charges++
	return fmt.Sprintf("ch_%d", p.charges), nil
}

func main() {
	p := &processor{}
	service := payments.NewIdempotentPayments(p, idem.New(memory.New()))
	for range 2 {
		fmt.Println(service.Charge(context.Background(), "order-1", 4990))
	}
	fmt.Println(p.charges)
}
`)
	command(t, dir, "generate", "./...")
	command(t, dir, "tool", "idemgen", "-check", "./...")
	command(t, dir, "vet", "./...")
	const want = "ch_1 <nil>\nch_1 <nil>\n1\n"
	if got := command(t, dir, "run", "."); got != want {
		t.Errorf("the program printed\n%swant\n%s", got, want)
	}
}
