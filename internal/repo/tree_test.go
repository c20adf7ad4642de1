package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository, as seen from the folder in which tests run.
const root = "../.."

// modulePath is the first part of every import path of this module.
const modulePath = "github.com/idemgen/idem"

// walk calls visit for every file that belongs to the repository, with its
// path from the root in slashes.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	visited := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" { // a folder, or a file in a linked work tree
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		visited++
		visit(filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if visited == 0 {
		t.Fatal("no file was visited")
	}
}

// text returns the content of a file of the repository.
func text(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// isSource reports whether name is hand-written Go that is not a test.
func isSource(name string) bool {
	return isCode(name) && !strings.HasSuffix(name, "_idem.go")
}

// isCode reports whether name is Go, by hand or generated, that is neither a
// test nor a test's material.
func isCode(name string) bool {
	return strings.HasSuffix(name, ".go") &&
		!strings.HasSuffix(name, "_test.go") &&
		!strings.Contains("/"+name, "/testdata/")
}
