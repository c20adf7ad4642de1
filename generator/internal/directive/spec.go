package directive

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// spec says what arguments a directive takes.
type spec struct {
	usage string                   // shown after a mistake
	check func(args string) string // what is wrong, "" if nothing
	prose bool                     // the arguments are words, in which // is no comment
}

// specs holds all directives. One that is not listed is unknown.
var specs = map[string]spec{
	"key":         {usage: "//idem:key EXPRESSION, EXPRESSION over the parameters", check: required},
	"ttl":         {usage: "//idem:ttl 48h, or //idem:ttl forever", check: ttl},
	"lease":       {usage: "//idem:lease 30s", check: lease},
	"pending":     {usage: "//idem:pending wait, //idem:pending wait=10s or //idem:pending reject", check: pending},
	"recover":     {usage: "//idem:recover rerun, //idem:recover refuse, or //idem:recover ask and a function", check: recovery},
	"fingerprint": {usage: "//idem:fingerprint all, //idem:fingerprint none, or expressions over the parameters", check: required},
	"final":       {usage: "//idem:final followed by error values or error types", check: required},
	"codec":       {usage: "//idem:codec json, //idem:codec proto, or a value with the methods of idem.Codec", check: required},
	"name":        {usage: "//idem:name followed by one word of letters, digits, '.', '-', '_' and '/'", check: word, prose: true},
	"optional":    {usage: "//idem:optional", check: nothing},
	"tx":          {usage: "//idem:tx", check: nothing},
	"lossy":       {usage: "//idem:lossy followed by why nobody misses what a replay loses", check: required, prose: true},
}

func required(args string) string {
	if args == "" {
		return "needs an argument"
	}
	return ""
}

func nothing(args string) string {
	if args != "" {
		return fmt.Sprintf("takes no argument, and has %q", args)
	}
	return ""
}

func recovery(args string) string {
	if args == "rerun" || args == "refuse" {
		return ""
	}
	if _, ok := (Directive{Args: args}).Word("ask"); ok {
		return ""
	}
	return fmt.Sprintf("has the argument %q", args)
}

// Word returns the directive with what follows a first word of its arguments.
// ok is false if that is another word, or the only one.
func (d Directive) Word(word string) (rest Directive, ok bool) {
	after, ok := strings.CutPrefix(d.Args, word)
	trimmed := strings.TrimLeft(after, " \t")
	if !ok || trimmed == "" || trimmed == after {
		return d, false
	}
	d.Arg.Column += len(d.Args) - len(trimmed)
	d.Arg.Offset += len(d.Args) - len(trimmed)
	d.Args = trimmed
	return d, true
}

// operation is what a name can be. It holds what import paths and identifiers
// are made of, so that the name that an operation has by default can be kept
// when its interface or package gets another.
var operation = regexp.MustCompile(`^[\pL\pN._~+/-]+$`)

func word(args string) string {
	if operation.MatchString(args) {
		return ""
	}
	return fmt.Sprintf("has the argument %q", args)
}

func ttl(args string) string {
	if _, err := TTL(args); err != nil {
		return err.Error()
	}
	return ""
}

func lease(args string) string {
	d, err := duration(args)
	if err == nil && d < time.Millisecond {
		err = fmt.Errorf("has the argument %q, less than a millisecond", args)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func pending(args string) string {
	if _, _, err := Pending(args); err != nil {
		return err.Error()
	}
	return ""
}

// Forever is the TTL of results that are kept without end.
const Forever time.Duration = 1<<63 - 1

// TTL reads the argument of //idem:ttl.
func TTL(args string) (time.Duration, error) {
	if args == "forever" {
		return Forever, nil
	}
	return duration(args)
}

// Lease reads the argument of //idem:lease, which was checked.
func Lease(args string) time.Duration {
	d, _ := duration(args)
	return d
}

// Pending reads the argument of //idem:pending. A wait of 0 has no end.
func Pending(args string) (reject bool, wait time.Duration, err error) {
	switch value, limited := strings.CutPrefix(args, "wait="); {
	case args == "reject":
		return true, 0, nil
	case args == "wait":
		return false, 0, nil
	case limited:
		wait, err = duration(value)
		return false, wait, err
	default:
		return false, 0, fmt.Errorf("has the argument %q", args)
	}
}

func duration(args string) (time.Duration, error) {
	d, err := time.ParseDuration(args)
	switch {
	case args == "":
		return 0, fmt.Errorf("needs a duration")
	case err != nil:
		return 0, fmt.Errorf("has the argument %q, which is no duration such as 90s, 15m or 168h", args)
	case d <= 0:
		return 0, fmt.Errorf("has the argument %q, which is not above zero", args)
	}
	return d, nil
}
