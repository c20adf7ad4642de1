package pgtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// A frame is one message of the protocol: a type (zero for the messages that
// open a connection) and a body, without the length between them.
type frame struct {
	kind byte
	body []byte
}

// Types of the messages that matter here. Frontend and backend share letters.
const (
	queryFrame = 'Q' // frontend: simple query
	parseFrame = 'P' // frontend: prepare
	bindFrame  = 'B' // frontend: bind arguments to a prepared statement
	syncFrame  = 'S' // frontend: end of an extended query
	readyFrame = 'Z' // backend: ready for the next query
)

const maxFrame = 1 << 30

func readFrame(r *bufio.Reader, typed bool) (frame, error) {
	var f frame
	if typed {
		kind, err := r.ReadByte()
		if err != nil {
			return f, err
		}
		f.kind = kind
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 4 || n > maxFrame {
		return f, fmt.Errorf("pgtest: a message of %d bytes", n)
	}
	f.body = make([]byte, n-4)
	_, err := io.ReadFull(r, f.body)
	return f, err
}

func (f frame) append(b []byte) []byte {
	if f.kind != 0 {
		b = append(b, f.kind)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.body)+4))
	return append(b, f.body...)
}

// field returns the i-th zero-terminated string of the body.
func (f frame) field(i int) string {
	rest := f.body
	for {
		field, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return ""
		}
		if i == 0 {
			return string(field)
		}
		rest, i = after, i-1
	}
}
