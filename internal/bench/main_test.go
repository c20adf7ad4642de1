package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
)

// The numbers of one call each mean nothing; that every path runs does.
func TestEveryPathIsMeasured(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime")
	before := benchtime.Value.String()
	if err := benchtime.Value.Set("1x"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := benchtime.Value.Set(before); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	if err := run(&out, 1, 1000); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"key of three parts", "first execution", "replay by typed copy", "1,000 callers joined",
		"1000 keys in the memory backend", "during a sweep of 500 expired keys",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
