package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
)

// Scripts for pgbench, which is written in C and has its statements prepared:
// as fast as the two statements that no design can do without, or the one of a
// replay, can be.
const (
	pgbenchFirst = `\set k random(1, 9000000000000000000)
INSERT INTO by_hand (key, state, claimed_at, expires_at) VALUES ('payments.Charge/cus_%[1]s/' || :client_id || '/' || :k, 'pending', now(), now() + interval '30 s');
UPDATE by_hand SET state = 'completed', result = decode(repeat('61', %[2]d), 'hex'), expires_at = now() + interval '1 day' WHERE key = 'payments.Charge/cus_%[1]s/' || :client_id || '/' || :k;
`
	pgbenchReplay = `\set k random(0, %[1]d)
SELECT state, fence, attempt, fingerprint, result FROM %[2]s WHERE key = 'payments.Charge/replayed/cus_0/order-' || :k;
`
)

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// pgbench runs a script and returns its transactions a second.
func (b *bench) pgbench(script string, callers int, d time.Duration) (float64, error) {
	program, err := pgtest.Binary("pgbench")
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "idem-pgbench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	out, err := exec.Command(program, "--no-vacuum", "--protocol=prepared", "--file="+file,
		"--client="+strconv.Itoa(callers), "--jobs="+strconv.Itoa(min(callers, 2)),
		"--time="+strconv.Itoa(max(1, int(d.Seconds()))), b.dsn).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	match := tps.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("pgbench printed no rate:\n%s", out)
	}
	return strconv.ParseFloat(string(match[1]), 64)
}
