package postgres

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

var heldCall = idem.Call{Operation: "charge", Key: "k", Lease: time.Second}

// holdForEver is the life of a process that is killed in the middle of an
// execution. It says on its standard output that it has begun.
func holdForEver(schema string) {
	config, err := pgxpool.ParseConfig(os.Getenv(pgtest.EnvDSN))
	if err != nil {
		panic(err)
	}
	hasty(config) // a slow disk is not what keeps the heart from beating here
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		panic(err)
	}
	_, err = idem.Do(context.Background(), idem.New(New(pool, WithSchema(schema))), heldCall, func(context.Context) (string, error) {
		fmt.Println("executing")
		select {}
	})
	panic(err)
}

// A holder that runs for many leases is not disturbed, and one that is killed
// is followed by another when its last lease has ended, and not before.
func TestFault21KilledHolder(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+b.names.schema, pgtest.EnvDSN+"="+pgtest.DSN(t))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "executing\n" {
		t.Fatal(line, err)
	}
	// Ten leases, as the database counts them.
	for b.number("SELECT count(*) FROM idem_records WHERE clock_timestamp() < claimed_at + interval '10 s'") > 0 {
		if got := b.claim(request("charge/k")); got.Status != idem.ClaimPending {
			t.Fatalf("while the holder runs: %+v", got)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // says that it was killed

	until := b.text("SELECT lease_until::text FROM idem_records")
	store := idem.New(b.Backend)
	defer store.Close(context.Background())
	got, err := idem.Do(t.Context(), store, heldCall, func(context.Context) (string, error) { return "charged", nil })
	if got != "charged" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	const outcome = "SELECT count(*) FROM idem_records WHERE attempt = 2 AND claimed_at >= $1::timestamptz AND claimed_at < $1::timestamptz + interval '10 s'"
	if b.number(outcome, until) != 1 {
		t.Error("the claim was not taken over, or too early: ", b.text("SELECT t::text FROM idem_records AS t"))
	}
}
