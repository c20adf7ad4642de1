package memory

import "sync"

// A watch is shared by all who watch a key, until it changes.
type watch struct {
	changed chan struct{}
	users   int
}

// Watch implements idem.Notifier. changed is closed at the first completion,
// release, takeover, or end of a lease by an extension of zero or less. A
// lease that merely lapses closes nothing: whoever waits knows when that is.
func (b *Backend) Watch(key string) (changed <-chan struct{}, stop func()) {
	s := b.shard(key)
	defer s.mu.Unlock()
	w := s.watches[key]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		if s.watches == nil {
			s.watches = make(map[string]*watch)
		}
		s.watches[key] = w
	}
	w.users++
	return w.changed, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.users--; w.users == 0 && s.watches[key] == w {
			delete(s.watches, key)
		}
	})
}

// wake tells those who watch key that its record changed.
func (s *shard) wake(key string) {
	if w := s.watches[key]; w != nil {
		close(w.changed)
		delete(s.watches, key)
	}
}
