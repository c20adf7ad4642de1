package repo

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	making  = regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)")
	blocks  = regexp.MustCompile("(?ms)^```.*?^```$")
	target  = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// Links within the repository lead to a file, and to a heading where they
// name one.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, name := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(blocks.ReplaceAllString(text(t, name), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			goal := name
			if file != "" {
				goal = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, goal)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(text(t, goal)), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", name, m[1], goal)
			}
		}
	}
}

// anchors returns the names that a document's headings get.
func anchors(document string) (names []string) {
	plain := strings.NewReplacer("`", "", "?", "", "!", "", ",", "", ".", "", ":", "", " ", "-")
	for _, m := range heading.FindAllStringSubmatch(document, -1) {
		names = append(names, plain.Replace(strings.ToLower(m[1])))
	}
	return names
}

// What the documents tell a reader to make, the Makefile makes.
func TestTheCommandsOfTheDocumentsExist(t *testing.T) {
	var targets []string
	for _, m := range target.FindAllStringSubmatch(text(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	for _, name := range documents(t) {
		for _, m := range making.FindAllStringSubmatch(text(t, name), -1) {
			if !slices.Contains(targets, m[1]) {
				t.Errorf("%s names `make %s`, which the Makefile does not know", name, m[1])
			}
		}
	}
}

// A directive or an error that the README does not explain is one that nobody
// finds, and one that it explains wrongly is worse.
func TestTheReadmeExplainsDirectivesAndErrors(t *testing.T) {
	names := func(file, pattern string) map[string]bool {
		found := make(map[string]bool)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text(t, file), -1) {
			found[m[1]] = true
		}
		if len(found) == 0 {
			t.Fatalf("%s: nothing matches %s", file, pattern)
		}
		return found
	}
	directives := names("generator/internal/directive/spec.go", `(?m)^\t"([a-z]+)": +\{`)
	explained := names("README.md", "(?m)^\\| `//idem:([a-z]+)[ `]")
	for name := range directives {
		if !explained[name] {
			t.Errorf("README.md does not explain //idem:%s", name)
		}
	}
	for name := range explained {
		if !directives[name] {
			t.Errorf("README.md explains //idem:%s, which does not exist", name)
		}
	}
	readme := names("README.md", "`\\*?([A-Z][A-Za-z]+)`")
	for name := range names("runtime/errors.go", `(?m)^\t?(?:type )?((?:Err[A-Z]\w+)|(?:[A-Z]\w+Error)) (?:=|struct)`) {
		if name != "CallError" && !readme[name] {
			t.Errorf("README.md does not explain %s", name)
		}
	}
}
