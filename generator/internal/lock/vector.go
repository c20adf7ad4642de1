package lock

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"github.com/idemgen/idem/generator/internal/model"
)

// samples is how many vectors an operation has at most.
const samples = 3

// The samples of each kind. They fit the narrowest type of their kind.
var (
	texts    = [samples]string{"a", "ü/,%", "d~"}
	integers = [samples]int64{1, -2, math.MaxInt8}
	counts   = [samples]uint64{1, 2, math.MaxUint8}
	floats   = [samples]float64{1, -0.5, 1e10}
	instants = [samples]time.Time{
		time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
		time.Date(2038, 1, 19, 3, 14, 8, 1, time.UTC),
	}
)

// vectors returns the keys that an operation has for a few values of its
// parts. They are worked out without the runtime, and are what it gives: the
// values of sample i are the i-th above, of arrays of bytes i*16+1, i*16+2, …
// Composites hold one element in the first sample, two in the second, and none
// in the last, in which pointers are nil and texts inside of composites empty.
func vectors(operation string, parts []model.Part) []string {
	var keys []string
	for i := range samples {
		w := writer{sample: i, text: appendEscaped(nil, operation)}
		for _, p := range parts {
			w.text = append(w.text, '/')
			w.value(&p.Plan)
		}
		if w.present {
			keys = append(keys, shorten(string(w.text)))
		}
	}
	return keys
}

// A writer writes the key of one sample.
type writer struct {
	text    []byte
	sample  int
	depth   int  // of composites around the value
	present bool // a part holds something
}

// value writes the sample of a plan.
func (w *writer) value(p *model.Plan) {
	switch p.Kind {
	case model.Pointer:
		if w.last() || p.Elem.Kind == model.Ref {
			w.text = append(w.text, "%-"...)
			return
		}
		w.value(p.Elem)
	case model.Struct, model.Array, model.Slice, model.Map:
		w.depth++
		w.text = append(w.text, '(')
		w.members(p)
		w.text = append(w.text, ')')
		w.depth--
	default:
		w.leaf(p)
	}
}

func (w *writer) last() bool { return w.sample == samples-1 }

// members writes what a composite holds.
func (w *writer) members(p *model.Plan) {
	count := w.sample + 1
	switch {
	case p.Kind == model.Struct:
		count = len(p.Fields)
	case p.Kind == model.Array:
		count = int(p.Len)
	case w.last() || p.Elem.Kind == model.Ref:
		count = 0
	case p.Kind == model.Map:
		count = 1 // two entries could not have one key
	}
	for i := range count {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		switch p.Kind {
		case model.Struct:
			w.value(&p.Fields[i].Plan)
		case model.Map:
			w.value(p.Key)
			w.text = append(w.text, '=')
			w.value(p.Elem)
		default:
			w.value(p.Elem)
		}
	}
}

func (w *writer) leaf(p *model.Plan) {
	switch p.Kind {
	case model.Bool:
		w.text = strconv.AppendBool(w.text, w.sample == 0)
	case model.Int:
		w.text = strconv.AppendInt(w.text, integers[w.sample], 10)
	case model.Uint:
		w.text = strconv.AppendUint(w.text, counts[w.sample], 10)
	case model.Float32, model.Complex64:
		w.bits(uint64(math.Float32bits(float32(floats[w.sample]))), p.Kind == model.Complex64)
	case model.Float64, model.Complex128:
		w.bits(math.Float64bits(floats[w.sample]), p.Kind == model.Complex128)
	case model.Time:
		w.text = instants[w.sample].AppendFormat(w.text, time.RFC3339Nano)
	case model.Identifier:
		for i := range p.Len {
			w.text = hex.AppendEncode(w.text, []byte{byte(int64(w.sample)*16 + 1 + i)})
		}
	default: // texts and bytes, and a type parameter that stands for a string
		if w.last() && w.depth > 0 {
			w.text = append(w.text, "%."...)
			return
		}
		w.text = appendEscaped(w.text, texts[w.sample])
	}
	w.present = true
}

// bits writes a float, or a complex number both parts of which are the same.
// The bits of no sample begin with a zero.
func (w *writer) bits(bits uint64, twice bool) {
	text := strconv.FormatUint(bits, 16)
	w.text = append(w.text, text...)
	if twice {
		w.text = append(append(w.text, ':'), text...)
	}
}
