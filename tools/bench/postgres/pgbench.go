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

// inC is pgbench as a contender.
func (b *bench) inC() contender {
	return contender{
		name: byBench,
		first: func(callers int, each time.Duration) (measure, error) {
			return b.pgbench(fmt.Sprintf(pgbenchFirst, b.prefix(), len(b.result)), callers, each)
		},
		replay: func(callers int, each time.Duration) (measure, error) {
			return b.pgbench(fmt.Sprintf(pgbenchReplay, replayKeys-1, b.table), callers, each)
		},
	}
}

// pgbench runs a script and measures its transactions a second.
func (b *bench) pgbench(script string, callers int, d time.Duration) (measure, error) {
	program, err := pgtest.Binary("pgbench")
	if err != nil {
		return measure{}, err
	}
	dir, err := os.MkdirTemp("", "idem-pgbench-")
	if err != nil {
		return measure{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return measure{}, err
	}
	out, err := exec.Command(program, "--no-vacuum", "--protocol=prepared", "--file="+file,
		"--client="+strconv.Itoa(callers), "--jobs="+strconv.Itoa(min(callers, 2)),
		"--time="+strconv.Itoa(max(1, int(d.Seconds()))), b.dsn).CombinedOutput()
	if err != nil {
		return measure{}, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	match := tps.FindSubmatch(out)
	if match == nil {
		return measure{}, fmt.Errorf("pgbench printed no rate:\n%s", out)
	}
	rate, err := strconv.ParseFloat(string(match[1]), 64)
	return measure{rate: rate}, err
}
