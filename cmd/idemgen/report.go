package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/idemgen/idem/generator"
)

// A report tells what a run found and did.
type report struct {
	dir     string // that file names are relative to
	result  *generator.Result
	changes []generator.Change
	written bool // whether the changes were made
}

// text reports to people: mistakes to stderr, what was asked for to stdout.
func (r *report) text(o options, stdout, stderr io.Writer) error {
	generator.Print(stderr, r.dir, r.result.Diagnostics)
	if o.verbose {
		generator.Print(stderr, r.dir, r.result.Notes)
	}
	for _, c := range r.changes {
		name := generator.Relative(r.dir, c.Path)
		switch {
		case o.check:
			fmt.Fprintf(stdout, "%s is %s\n", name, c.State)
		case r.written && o.verbose && c.State == generator.Orphaned:
			fmt.Fprintln(stderr, "removed", name)
		case r.written && o.verbose:
			fmt.Fprintln(stderr, "wrote", name)
		}
	}
	if o.diff {
		_, err := stdout.Write(generator.Diff(r.dir, r.changes))
		return err
	}
	return nil
}

// json reports to programs.
func (r *report) json(stdout io.Writer) error {
	type remark struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	}
	type file struct {
		Path    string          `json:"path"`
		State   generator.State `json:"state"`
		Written bool            `json:"written"`
	}
	out := struct {
		Diagnostics []remark `json:"diagnostics"`
		Notes       []remark `json:"notes"`
		Files       []file   `json:"files"`
	}{Files: []file{}}
	remarks := func(list []generator.Diagnostic) []remark {
		all := make([]remark, len(list))
		for i, d := range list {
			all[i] = remark{d.Position.Filename, d.Position.Line, d.Position.Column, d.Message}
		}
		return all
	}
	out.Diagnostics, out.Notes = remarks(r.result.Diagnostics), remarks(r.result.Notes)
	for _, c := range r.changes {
		out.Files = append(out.Files, file{c.Path, c.State, r.written})
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	return encoder.Encode(out)
}
