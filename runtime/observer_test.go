package idem_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestSlogObserver(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	observer := idem.SlogObserver(log)
	observer.Observe(t.Context(), idem.Event{Kind: idem.Executed, Operation: "charge", Key: "charge/r-1", Attempt: 2, Fence: 7, Duration: time.Second})
	observer.Observe(t.Context(), idem.Event{Kind: idem.TakenOver, Key: "charge/r-1", Age: time.Minute})
	observer.Observe(t.Context(), idem.Event{Kind: idem.Unsettled, Key: "charge/r-1", Err: errDown})
	observer.Observe(t.Context(), idem.Event{Kind: idem.Swept, Count: 3})
	want := `level=DEBUG msg="idem: executed" operation=charge key=charge/r-1 attempt=2 fence=7 duration=1s
level=WARN msg="idem: taken over" key=charge/r-1 age=1m0s
level=ERROR msg="idem: unsettled" key=charge/r-1 error="the database is down"
level=DEBUG msg="idem: swept" count=3
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	quiet := idem.SlogObserver(slog.New(slog.NewTextHandler(&out, nil)))
	quiet.Observe(t.Context(), idem.Event{Kind: idem.Replayed})
	if out.Len() > 0 {
		t.Errorf("a disabled level was logged: %s", &out)
	}
}

func TestEventKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := idem.Executed; k <= idem.Faulted; k++ {
		if name := k.String(); name == "unknown" || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		} else {
			seen[name] = true
		}
	}
	for _, k := range []idem.EventKind{0, idem.Faulted + 1} {
		if k.String() != "unknown" {
			t.Errorf("kind %d is called %q", k, k)
		}
	}
}
