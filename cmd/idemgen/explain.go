package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/idemgen/idem/generator"
)

// explain tells people what each operation does.
func explain(stdout io.Writer, dir string, operations []generator.Operation) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for i, o := range operations {
		if i > 0 {
			fmt.Fprintln(table)
		}
		row := func(name, value string) { fmt.Fprintf(table, "  %s\t%s\n", name, value) }
		fmt.Fprintln(table, o.Name)
		row("method", fmt.Sprintf("%s (%s:%d)", o.Method, generator.Relative(dir, o.Position.Filename), o.Position.Line))
		row("key", keyText(o))
		row("fingerprint", cmp.Or(strings.Join(o.Fingerprint, ", "), "none"))
		row("ttl", duration(o.TTL))
		row("lease", lease(o))
		row("transaction", transaction(o))
		row("pending", o.Pending)
		row("recover", o.Recover)
		row("codec", o.Codec)
		row("final", cmp.Or(strings.Join(o.Final, ", "), "none: every error means that the next call runs again"))
		row("a replay loses", losses(o))
	}
	return table.Flush()
}

func keyText(o generator.Operation) string {
	var parts []string
	for _, p := range o.Key {
		parts = append(parts, fmt.Sprintf("%s (%s)", p.Source, p.Encoding))
	}
	text := strings.Join(parts, ", ")
	if o.Optional {
		text += "; a call without one runs unprotected"
	}
	return text
}

func losses(o generator.Operation) string {
	switch {
	case len(o.Loses) > 0:
		return strings.Join(o.Loses, "; ")
	case o.Codec != "json" && o.Codec != "proto":
		return "what its codec loses"
	}
	return "nothing"
}

func lease(o generator.Operation) string {
	if o.Tx {
		return "none: the transaction holds the claim"
	}
	return duration(o.Lease)
}

func transaction(o generator.Operation) string {
	if o.Tx {
		return "one with the claim and the record of the result"
	}
	return "none"
}

func duration(d time.Duration) string {
	if d == 0 {
		return "the store's"
	}
	return generator.Short(d)
}

// explainJSON tells programs. A duration that is the store's, or
// that there is none of, is left out.
func explainJSON(stdout io.Writer, operations []generator.Operation) error {
	type operation struct {
		Operation   string              `json:"operation"`
		Method      string              `json:"method"`
		File        string              `json:"file"`
		Line        int                 `json:"line"`
		Column      int                 `json:"column"`
		Key         []generator.KeyPart `json:"key"`
		Optional    bool                `json:"optional"`
		Fingerprint []string            `json:"fingerprint"`
		TTL         string              `json:"ttl,omitempty"`
		Lease       string              `json:"lease,omitempty"`
		Tx          bool                `json:"tx"`
		Pending     string              `json:"pending"`
		Recover     string              `json:"recover"`
		Codec       string              `json:"codec"`
		Final       []string            `json:"final"`
		Loses       []string            `json:"loses"`
	}
	list := []operation{}
	for _, o := range operations {
		out := operation{
			o.Name, o.Method, o.Position.Filename, o.Position.Line, o.Position.Column, o.Key, o.Optional,
			filled(o.Fingerprint), "", "", o.Tx, o.Pending, o.Recover, o.Codec, filled(o.Final), filled(o.Loses),
		}
		if o.TTL != 0 {
			out.TTL = o.TTL.String()
		}
		if o.Lease != 0 {
			out.Lease = o.Lease.String()
		}
		list = append(list, out)
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	return encoder.Encode(list)
}

// filled makes JSON say [] where there is nothing.
func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
