package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// The claim commits, its answer is lost with the connection, and what is sent
// again recognises its own row.
func TestFault13LostAcknowledgement(t *testing.T) {
	for _, m := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		t.Run(m.String(), func(t *testing.T) {
			proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
			b := open(t, dsn, single, mode(m))
			b.release("warm", b.win("warm")) // prepares the statements
			b.complete("warm up", b.win("warm up"), "done")

			lost := proxy.LoseReply("inserted AS (")
			got := b.claim(request("k"))
			<-lost
			if got.Status != idem.ClaimWon || got.Record.Attempt != 1 || got.TakenOver {
				t.Errorf("claim: %+v", got)
			}
			lost = proxy.LoseReply("state = 'completed',")
			if !b.complete("k", got.Record.Fence, "done") {
				t.Error("a completion that was sent again was not held")
			}
			<-lost
			if r, _ := b.lookup("k"); r.Fence != got.Record.Fence || string(r.Result) != "done" {
				t.Errorf("record: %+v", r)
			}
		})
	}
}

// The holder completes after the rescuer has read its lapsed row, and before
// the rescuer writes.
func TestFault18CompletedBetweenReadAndTakeover(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	fence := b.win("k")
	b.pass(2 * time.Minute)
	tx, err := b.direct.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	held, err := sendCompletions(t.Context(), tx, &b.sql, []idem.Completion{{Key: "k", Fence: fence, Result: []byte("done"), TTL: time.Hour}})
	if err != nil || !held[0] {
		t.Fatal(held, err)
	}
	answer := make(chan idem.ClaimResult)
	go func() {
		got, err := b.Claim(context.Background(), request("k"))
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	b.awaitLock()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got.Status != idem.ClaimCompleted || string(got.Record.Result) != "done" || got.Record.Fence != fence {
		t.Errorf("the rescuer got %+v", got)
	}
}

// awaitLock returns when a statement on the table waits for a lock.
func (f *fixture) awaitLock() {
	f.t.Helper()
	for f.number(`SELECT count(*) FROM pg_stat_activity AS a JOIN pg_locks AS l USING (pid)
		WHERE a.wait_event_type = 'Lock' AND l.relation = 'idem_records'::regclass`) == 0 {
		if err := f.t.Context().Err(); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Somebody keeps the row locked for longer than a statement waits: the others
// are told that it is in progress, and requests for other keys that travel
// along are answered.
func TestALockedRowIsInProgress(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	fence := b.win("k")
	b.pass(2 * time.Minute)
	tx, err := b.direct.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), b.names.render("SELECT FROM idem_records FOR UPDATE")); err != nil {
		t.Fatal(err)
	}
	results, errs := b.together(request("other"), request("k"))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if results[0].Status != idem.ClaimWon {
		t.Errorf("the other key: %+v", results[0])
	}
	if results[1].Status != idem.ClaimPending || results[1].Record.LeaseLeft <= 0 {
		t.Errorf("the locked key: %+v", results[1])
	}
	if _, err := b.Complete(t.Context(), idem.Completion{Key: "k", Fence: fence, TTL: time.Hour}); sqlState(err) != lockNotAvailable {
		t.Errorf("completing: %v, want an error that leaves it open", err)
	}
}

// together sends claims in one batch.
func (f *fixture) together(requests ...idem.ClaimRequest) ([]idem.ClaimResult, []error) {
	seats := make([]*seat[idem.ClaimRequest, idem.ClaimResult], len(requests))
	for i, r := range requests {
		seats[i] = &seat[idem.ClaimRequest, idem.ClaimResult]{request: r, done: make(chan struct{})}
	}
	f.claims.deliver(seats)
	results, errs := make([]idem.ClaimResult, len(seats)), make([]error, len(seats))
	for i, s := range seats {
		results[i], errs[i] = s.answer, s.err
	}
	return results, errs
}

// Fifty claimants in five processes, as far as the database can tell.
func TestFault19OneTakesOver(t *testing.T) {
	first := open(t, pgtest.DSN(t))
	backends := []*fixture{first}
	for range 4 {
		backends = append(backends, attach(t, openPool(t, pgtest.DSN(t)), first.direct, first.opts))
	}
	for _, lapse := range []time.Duration{2 * time.Minute, 2 * time.Hour} { // lapsed, expired
		before := first.win("k")
		first.pass(lapse)
		var mu sync.Mutex
		var won []idem.Record
		var claimants sync.WaitGroup
		for i := range 50 {
			claimants.Go(func() {
				got, err := backends[i%len(backends)].Claim(t.Context(), request("k"))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case got.Status == idem.ClaimWon:
					won = append(won, got.Record)
				case got.Status != idem.ClaimPending:
					t.Errorf("a loser got %+v", got)
				}
			})
		}
		claimants.Wait()
		if len(won) != 1 || won[0].Fence <= before {
			t.Errorf("%d won after %v: %+v", len(won), lapse, won)
		}
		first.release("k", first.fence("k"))
	}
}

// A is stalled past its lease and B takes over. While B runs, and when it has
// finished, nothing that A sends changes the row.
func TestFault20AZombieChangesNothing(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	a := b.win("k")
	b.pass(2 * time.Minute)
	fence := b.claim(request("k")).Record.Fence
	zombie := func(when string) {
		t.Helper()
		before := b.text("SELECT t::text FROM idem_records AS t")
		if b.extend("k", a, time.Hour) || b.complete("k", a, "A's") || b.release("k", a) {
			t.Errorf("%s: the zombie was believed", when)
		}
		if after := b.text("SELECT t::text FROM idem_records AS t"); after != before {
			t.Errorf("%s: the row changed from %s to %s", when, before, after)
		}
	}
	zombie("while B runs")
	b.complete("k", fence, "B's")
	zombie("after B has finished")
}

// text returns the one text that a query answers.
func (f *fixture) text(query string) (s string) {
	f.t.Helper()
	if err := f.direct.QueryRow(f.t.Context(), f.names.render(query)).Scan(&s); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// The database computes with the durations that it was sent, in their unit.
func TestFault40LeasesOfEveryLength(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	for ms := 1; ms <= 1e7; ms *= 10 {
		lease, key := time.Duration(ms)*time.Millisecond, fmt.Sprint(ms)
		r := request(key)
		r.Lease, r.Retention = lease, time.Hour+lease
		fence := b.claim(r).Record.Fence
		micros := func(of string) time.Duration {
			return time.Duration(b.number("SELECT (extract(epoch FROM "+of+") * 1e6)::int8 FROM idem_records WHERE key = $1", key)) * time.Microsecond
		}
		if got := micros("lease_until - claimed_at"); got != lease {
			t.Errorf("a lease of %v lasts %v", lease, got)
		}
		if got := micros("expires_at - lease_until"); got != time.Hour+lease {
			t.Errorf("a retention of %v lasts %v", time.Hour+lease, got)
		}
		b.pass(lease)
		if got := b.claim(request(key)); !got.TakenOver || got.Record.Fence == fence {
			t.Errorf("after a lease of %v: %+v", lease, got)
		}
	}
}

func TestAnUnknownStateIsAnError(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	fence := b.win("k")
	b.exec("UPDATE idem_records SET state = 'archived'")
	results, errs := b.together(request("k"), request("other"))
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "state") {
		t.Errorf("claim: %v", errs[0])
	}
	if errs[1] != nil || results[1].Status != idem.ClaimWon {
		t.Errorf("the claim that travelled along: %+v, %v", results[1], errs[1])
	}
	if _, _, err := b.Lookup(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "state") {
		t.Errorf("lookup: %v", err)
	}
	if b.complete("k", fence, "done") || b.extend("k", fence, time.Hour) {
		t.Error("a record in an unknown state was held")
	}
	b.pass(1000 * time.Hour)
	if n := b.sweep(10); n != 1 {
		t.Errorf("swept %d, want the other record alone", n)
	}
}

// A claim statement that drew its fence and was held up before it could insert
// must not insert it after a later one was used and given back.
func TestAReleasedKeyKeepsItsPlaceInTheOrderOfFences(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	late := b.number("SELECT nextval('idem_records_fence')")
	fence := b.win("k")
	b.release("k", fence)
	b.sweep(10)
	tag, err := b.direct.Exec(t.Context(), b.names.render(`INSERT INTO idem_records
		(key, state, fence, attempt, waiting, claimed_at, lease_until, owner, fingerprint)
		VALUES ('k', 'pending', $1, 1, false, now(), now(), '', '') ON CONFLICT DO NOTHING`), late)
	if err != nil || tag.RowsAffected() != 0 {
		t.Errorf("inserted fence %d after %d: %v", late, fence, err)
	}
}
