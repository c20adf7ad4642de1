package idem

// buffer collects bytes: up to the size of small without an allocation. It
// never keeps a slice of its own array, which would move every builder that
// holds one to the heap.
type buffer struct {
	n     int // bytes used in small, unless large holds them all
	large []byte
	small [256]byte
}

// space returns an empty slice with room for n bytes, to be appended to and
// given to commit.
func (b *buffer) space(n int) []byte {
	if b.large == nil && b.n+n <= len(b.small) {
		return b.small[b.n:b.n]
	}
	b.spill(n)
	return b.large[len(b.large):]
}

func (b *buffer) spill(n int) {
	if b.large == nil {
		b.large = append(make([]byte, 0, 2*len(b.small)+n), b.small[:b.n]...)
	}
}

// commit adds what was appended to the slice that space returned.
func (b *buffer) commit(added []byte) {
	if b.large == nil && b.n+len(added) <= len(b.small) {
		b.n += copy(b.small[b.n:], added)
		return
	}
	b.spill(len(added))
	b.large = append(b.large, added...)
}

func (b *buffer) byte(c byte) {
	if b.large == nil && b.n < len(b.small) {
		b.small[b.n] = c
		b.n++
		return
	}
	b.spill(1)
	b.large = append(b.large, c)
}

func (b *buffer) bytes() []byte {
	if b.large == nil {
		return b.small[:b.n]
	}
	return b.large
}

func (b *buffer) len() int {
	if b.large == nil {
		return b.n
	}
	return len(b.large)
}

// cut drops all but the first n bytes.
func (b *buffer) cut(n int) {
	if b.large == nil {
		b.n = n
		return
	}
	b.large = b.large[:n]
}
