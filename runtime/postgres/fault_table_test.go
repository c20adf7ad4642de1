package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// Heartbeats leave the indexes alone.
func TestFault22HeartbeatsAreHOT(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	const claims, beats = 200, 50
	x := make([]idem.Extension, claims)
	for i := range x {
		key := fmt.Sprint("k", i)
		x[i] = idem.Extension{Key: key, Fence: b.win(key), Lease: time.Minute}
	}
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	beating := New(conn, b.opts...)
	for range beats {
		held, err := beating.Extend(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range held {
			if !h {
				t.Fatalf("claim %d was lost", i)
			}
		}
	}
	if err := conn.Close(t.Context()); err != nil { // reports its counts
		t.Fatal(err)
	}
	stat := func(column string) int64 {
		return b.number("SELECT coalesce(max("+column+"), 0) FROM pg_stat_user_tables WHERE schemaname = $1", b.names.schema)
	}
	for stat("n_tup_upd") < claims*beats {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	if all, hot := stat("n_tup_upd"), stat("n_tup_hot_upd"); hot*100 < all*99 {
		t.Errorf("%d of %d updates were HOT", hot, all)
	}
}

// What expired is claimed anew while it is swept: no claim is lost.
func TestFault23SweepsSpareWhatIsClaimed(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	const claimers, each = 16, 50
	key := func(claimer, i int) string { return fmt.Sprint("k", claimer, "/", i) }
	inAll := func(f func(claimer int)) *sync.WaitGroup {
		var wg sync.WaitGroup
		for claimer := range claimers {
			wg.Go(func() { f(claimer) })
		}
		return &wg
	}
	inAll(func(claimer int) {
		for i := range each {
			if _, err := b.Claim(t.Context(), request(key(claimer, i))); err != nil {
				t.Error(err)
			}
		}
	}).Wait()
	b.pass(2 * time.Hour)

	claiming := inAll(func(claimer int) {
		for i := range each {
			got, err := b.Claim(t.Context(), request(key(claimer, i)))
			if err != nil || got.Status != idem.ClaimWon {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
	claimed := make(chan struct{})
	go func() { claiming.Wait(); close(claimed) }()
	for done := false; !done; {
		select {
		case <-claimed:
			done = true
		default:
		}
		b.sweep(20)
	}
	if n := b.number("SELECT count(*) FROM idem_records WHERE lease_until > now()"); n != claimers*each {
		t.Errorf("%d of %d claims are left", n, claimers*each)
	}
}

// A sweep leaves what somebody has locked, and waits for nobody.
func TestSweepsBlockOnNobody(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	b.win("locked")
	b.win("free")
	b.pass(2 * time.Hour)
	tx, err := b.direct.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), b.names.render("SELECT FROM idem_records WHERE key = 'locked' FOR UPDATE")); err != nil {
		t.Fatal(err)
	}
	if n := b.sweep(10); n != 1 {
		t.Errorf("swept %d", n)
	}
}
