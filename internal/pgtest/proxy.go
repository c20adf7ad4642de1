package pgtest

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Proxy stands between clients and a server, counts what passes, and cuts,
// delays or loses it on demand.
type Proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]struct{}
	accepted int
	trips    int
	delay    time.Duration
	refusing bool
	loss     *loss
}

// A loss is an order to swallow one reply.
type loss struct {
	text string
	done chan struct{}
}

// NewProxy starts a proxy in front of the server at addr.
func NewProxy(addr string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, server: addr, links: make(map[*link]struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// ProxyTo starts a proxy in front of dsn's server until the test ends, and
// returns the connection string that goes through it.
func ProxyTo(tb testing.TB, dsn string) (*Proxy, string) {
	tb.Helper()
	addr, err := address(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := NewProxy(addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	through, err := Through(dsn, p.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	return p, through
}

// Addr returns the address that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Refuse cuts all connections and, while on, closes new ones at once: the
// server is down as far as clients can tell.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	p.refusing = on
	p.mu.Unlock()
	if on {
		p.Cut()
	}
}

// Delay makes every reply wait.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// LoseReply waits for the next statement whose text contains text, lets the
// server finish it, swallows the reply and closes the connection: the client
// cannot know that the statement was committed. The channel returned is closed
// when that has happened.
func (p *Proxy) LoseReply(text string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loss = &loss{text: text, done: make(chan struct{})}
	return p.loss.done
}

// Trips returns the number of requests that clients have waited for: simple
// queries and synchronisation points of the extended protocol.
func (p *Proxy) Trips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

// Accepted returns the number of connections that clients have opened.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Close cuts all connections and ends the proxy.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Refuse(true)
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.running.Go(func() { p.serve(client) })
		}
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	l := &link{proxy: p, client: client, server: server, prepared: make(map[string]string), gone: make(chan struct{})}
	defer l.close()
	p.mu.Lock()
	if p.refusing {
		p.mu.Unlock()
		return
	}
	p.links[l] = struct{}{}
	p.accepted++
	p.mu.Unlock()

	var both sync.WaitGroup
	both.Go(l.requests)
	both.Go(l.replies)
	both.Wait()

	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// A link is one client's connection to the server.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	prepared       map[string]string // texts of prepared statements; used by requests alone
	gone           chan struct{}     // closed when the link is
	once           sync.Once

	mu     sync.Mutex
	losing *loss // the reply that is under way is to be lost
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.gone)
		l.client.Close()
		l.server.Close()
	})
}

// requests carries messages to the server until either side ends.
func (l *link) requests() {
	defer l.close()
	r := bufio.NewReader(l.client)
	var b []byte
	for typed := false; ; typed = true {
		f, err := readFrame(r, typed)
		if err != nil {
			return
		}
		l.note(f)
		b = f.append(b)
		if r.Buffered() > 0 {
			continue
		}
		if _, err := l.server.Write(b); err != nil {
			return
		}
		b = b[:0]
	}
}

// note counts the message and applies a waiting loss to it.
func (l *link) note(f frame) {
	var text string
	switch f.kind {
	case parseFrame:
		l.prepared[f.field(0)] = f.field(1)
		return
	case bindFrame:
		text = l.prepared[f.field(1)]
	case queryFrame:
		text = f.field(0)
	}
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.kind == queryFrame || f.kind == syncFrame {
		p.trips++
	}
	if p.loss != nil && text != "" && strings.Contains(text, p.loss.text) {
		l.mu.Lock()
		l.losing, p.loss = p.loss, nil
		l.mu.Unlock()
	}
}

// replies carries messages to the client until either side ends.
func (l *link) replies() {
	defer l.close()
	r := bufio.NewReader(l.server)
	var b []byte
	for {
		f, err := readFrame(r, true)
		if err != nil {
			return
		}
		l.mu.Lock()
		losing := l.losing
		l.mu.Unlock()
		if losing != nil {
			if f.kind == readyFrame {
				close(losing.done)
				return
			}
			continue
		}
		b = f.append(b)
		if r.Buffered() > 0 {
			continue
		}
		l.proxy.mu.Lock()
		delay := l.proxy.delay
		l.proxy.mu.Unlock()
		if delay > 0 {
			select {
			case <-time.After(delay):
			case <-l.gone:
				return
			}
		}
		if _, err := l.client.Write(b); err != nil {
			return
		}
		b = b[:0]
	}
}
