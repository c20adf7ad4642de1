package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// A completion notifies nobody unless somebody has said that he waits.
func TestFault25NotifiesOnlyWhoWaits(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "LISTEN "+pgx.Identifier{b.names.channel()}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	wait := func(key string) {
		t.Helper()
		r := request(key)
		r.Waiting = true
		if got := b.claim(r); got.Status != idem.ClaimPending {
			t.Fatalf("%+v", got)
		}
	}
	silent, awaited := b.win("silent"), b.win("awaited")
	released, ended := b.win("released"), b.win("ended")
	replaced := b.win("replaced")
	wait("awaited")
	wait("awaited")
	wait("released")
	wait("ended")
	wait("replaced")
	b.complete("silent", silent, "done")
	b.complete("awaited", awaited, "done")
	b.extend("ended", ended, time.Minute)
	b.extend("ended", ended, 0)
	b.release("released", released)
	b.complete("released", b.win("released"), "done") // whoever waited has been told
	r := request("replaced")
	r.Replace = replaced
	b.complete("replaced", b.claim(r).Record.Fence, "resolved") // by an operator
	b.exec("SELECT pg_notify($1, 'the end')", b.names.channel())
	for _, want := range []string{"awaited", "ended", "released", "replaced", "the end"} {
		n, err := conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.Payload != want {
			t.Errorf("notified %q, want %q", n.Payload, want)
		}
	}
}

// A waiter of another process is woken: it asks a few times, not at intervals.
func TestFault26WaitersWake(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	holder := open(t, pgtest.DSN(t))
	waiter := attach(t, openPool(t, dsn), holder.direct, holder.opts)
	changed, stop := waiter.Watch("warm")
	<-changed // now it listens
	stop()
	first := idem.New(holder.Backend)
	second := idem.New(waiter.Backend)
	defer first.Close(context.Background())
	defer second.Close(context.Background())
	call := idem.Call{Operation: "charge", Key: "k"}

	running := make(chan struct{})
	finish := make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		_, err := idem.Do(t.Context(), first, call, func(context.Context) (string, error) {
			close(running)
			<-finish
			return "charged", nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-running
	calls.Go(func() {
		got, err := idem.Do(t.Context(), second, call, func(context.Context) (string, error) { return "twice", nil })
		if got != "charged" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	for holder.number("SELECT count(*) FROM idem_records WHERE waiting") == 0 {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	before := proxy.Trips()
	close(finish)
	calls.Wait()
	if n := proxy.Trips() - before; n > 4 {
		t.Errorf("the waiter made %d round trips", n)
	}
}

// A connection that breaks closes the channels of those who wait, and the next
// one who waits gets a new connection.
func TestAListenerThatBreaksIsReplaced(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	b := open(t, dsn)
	changed, stop := b.Watch("k")
	defer stop()
	<-changed // now it listens
	proxy.Cut()
	if _, open := <-changed; open {
		t.Error("woken by a connection that is gone")
	}
	changed, stop = b.Watch("k")
	defer stop()
	if changed == nil {
		t.Fatal("nobody tries again")
	}
	<-changed
	fence := b.win("k")
	r := request("k")
	r.Waiting = true
	b.claim(r)
	b.complete("k", fence, "done")
	if _, open := <-changed; !open {
		t.Error("not woken")
	}
}

func TestCloseEndsTheListener(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	changed, stop := b.Watch("k")
	defer stop()
	<-changed
	b.Close()
	if _, open := <-changed; open {
		t.Error("woken by a backend that is closed")
	}
	if changed, _ := b.Watch("k"); changed != nil {
		t.Error("a closed backend watches")
	}
	b.win("k") // all else goes on
}

func TestNobodyListensOnOneConnection(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	b := openOn(t, conn)
	changed, stop := b.Watch("k")
	stop()
	if changed != nil {
		t.Error("a connection that is used for requests was promised to listen")
	}
}
