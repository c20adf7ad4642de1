package repo

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A reader takes in a file of this many lines; a longer one is usually two.
const mostLines = 400

func TestFilesAreShort(t *testing.T) {
	walk(t, func(name string) {
		if !isSource(name) {
			return
		}
		if lines := strings.Count(text(t, name), "\n"); lines > mostLines {
			t.Errorf("%s has %d lines, more than %d: split it by subject", name, lines, mostLines)
		}
	})
}

func TestPackageNamesSayWhatIsInThem(t *testing.T) {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}
	walk(t, func(name string) {
		if isCode(name) && slices.Contains(vague, path.Base(path.Dir(name))) {
			t.Errorf("%s: a package called %s says nothing of its content", name, path.Base(path.Dir(name)))
		}
	})
}

// A path of the machine on which something was written is of no use on any
// other.
func TestNoPathOfAMachine(t *testing.T) {
	machine := regexp.MustCompile(`(^|[^A-Za-z0-9.])/(work|farm|root|Users|home/[a-z]+|tmp/[a-z]+)/`)
	walk(t, func(name string) {
		content := text(t, name)
		if strings.ContainsRune(content, 0) {
			return
		}
		for number, line := range strings.Split(content, "\n") {
			if found := machine.FindString(line); found != "" {
				t.Errorf("%s:%d holds a path of somebody's machine: %q", name, number+1, found)
			}
		}
	})
}

func TestUnreleasedChangesAreListed(t *testing.T) {
	changelog := text(t, "CHANGELOG.md")
	_, unreleased, found := strings.Cut(changelog, "\n## [Unreleased]\n")
	if !found {
		t.Fatal("CHANGELOG.md has no section Unreleased")
	}
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	if !regexp.MustCompile(`(?m)^- \S`).MatchString(unreleased) {
		t.Error("CHANGELOG.md lists nothing under Unreleased")
	}
}
