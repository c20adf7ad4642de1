package lock

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Two branches that touch different operations merge without conflicts, even
// if the operations are neighbours.
func TestBranchesMerge(t *testing.T) {
	base := block("A", "a", "") + block("B", "a", "") + block("C", "b", "")
	ours := block("A", "a", "") + block("B", "a", "") + "\tresult int\n" + block("C", "b", "") + block("D", "b", "")
	theirs := block("A", "a", "") + "\tfinal ErrLate\n" + block("AA", "a", "") + block("B", "a", "") + block("C", "c", "")
	both := block("A", "a", "") + "\tfinal ErrLate\n" + block("AA", "a", "") + block("B", "a", "") + "\tresult int\n" + block("C", "c", "") + block("D", "b", "")

	dir := t.TempDir()
	for name, blocks := range map[string]string{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), Text(read(t, blocks)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	merge := exec.CommandContext(t.Context(), "git", "merge-file", "-p", "ours", "base", "theirs")
	merge.Dir = dir
	merged, err := merge.Output()
	if err != nil {
		t.Fatalf("git merge-file: %v\n%s", err, merged)
	}
	if want := string(Text(read(t, both))); string(merged) != want {
		t.Errorf("got\n%s\nwant\n%s", merged, want)
	}
}
