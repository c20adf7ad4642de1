package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const profile = `mode: atomic
example.com/m/a/a.go:3.14,5.2 3 0
example.com/m/a/a.go:7.14,9.2 1 2
example.com/m/a/a.go:3.14,5.2 3 1
example.com/m/b/b.go:3.14,5.2 4 0
example.com/m/b/b_idem.go:3.14,5.2 50 0
example.com/m/examples/e/main.go:3.14,5.2 50 0
`

// gate runs the command on a profile with the given text.
func gate(t *testing.T, text string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "coverage.out")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code = run(append(args, file), &out, &errs)
	return code, out.String(), errs.String()
}

func TestBlocksOfSeveralBinariesAreMerged(t *testing.T) {
	code, stdout, _ := gate(t, profile, "-min", "50")
	const want = "   0.0%  example.com/m/b (0 of 4 statements)\n" +
		" 100.0%  example.com/m/a (4 of 4 statements)\n" +
		"  50.0%  hand-written code (4 of 8 statements)\n"
	if code != 0 || stdout != want {
		t.Errorf("exit %d and\n%swant exit 0 and\n%s", code, stdout, want)
	}
}

func TestTooLittleCoverageFails(t *testing.T) {
	code, _, stderr := gate(t, profile, "-min", "50.1")
	if code != 1 || !strings.Contains(stderr, "is 50.0%, below 50.1%") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestWhatIsNoProfileFails(t *testing.T) {
	for _, text := range []string{"hello\n", "a.go:1.1,2.2 x 1\n", "a.go:1.1,2.2 1 x\n"} {
		if code, _, stderr := gate(t, text); code != 2 || !strings.Contains(stderr, "line 1") {
			t.Errorf("%q: exit %d, %q", text, code, stderr)
		}
	}
	if code, _, stderr := gate(t, "mode: atomic\n"); code != 2 || !strings.Contains(stderr, "no statement") {
		t.Errorf("an empty profile: exit %d, %q", code, stderr)
	}
	for _, args := range [][]string{nil, {"-unknown"}, {filepath.Join(t.TempDir(), "absent")}} {
		var stdout, stderr strings.Builder
		if code := run(args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: exit %d, %q", args, code, stderr.String())
		}
	}
}
