package generator

import (
	"go/token"
	"strings"
	"time"

	"github.com/idemgen/idem/generator/internal/lock"
	"github.com/idemgen/idem/generator/internal/model"
)

// An Operation is what the directives of a method come to.
type Operation struct {
	Name     string         // that begins its keys
	Method   string         // Payments.Charge
	Position token.Position // of the method's name in the source

	Key         []KeyPart
	Optional    bool          // a call whose key is empty runs unprotected
	Fingerprint []string      // the arguments that have to be the same on a retry
	TTL         time.Duration // 0: the store's
	Lease       time.Duration // 0: the store's
	Tx          bool          // runs in one transaction with its claim and its record
	Pending     string        // wait, wait=5s or reject
	Recover     string        // rerun, refuse or ask FUNCTION
	Codec       string        // json, proto or the source of a value
	Final       []string      // the errors that are outcomes
	Loses       []string      // what a replay does not bring back, as accepted
}

// A KeyPart is an expression of a key, and how its value is written.
type KeyPart struct {
	Source   string `json:"source"`
	Encoding string `json:"encoding"` // as in the lock file
}

// explain lists the operations of a package's outputs.
func explain(files []model.File) []Operation {
	var list []Operation
	for _, f := range files {
		for _, i := range f.Interfaces {
			for _, m := range i.Methods {
				if m.Keyed != nil {
					list = append(list, explained(i.Name+"."+m.Name, m.Keyed))
				}
			}
		}
	}
	return list
}

func explained(method string, k *model.Keyed) Operation {
	o := Operation{
		Name: k.Operation, Method: method,
		Position: token.Position{Filename: k.Position.File, Line: k.Position.Line, Column: k.Position.Column},
		Optional: k.Optional, TTL: k.TTL, Lease: k.Lease, Tx: k.Tx,
		Pending: "wait", Recover: "rerun", Codec: "json", Loses: k.Loses,
	}
	for _, p := range k.Parts {
		o.Key = append(o.Key, KeyPart{p.Source, lock.Encoding(&p.Plan)})
	}
	for _, a := range k.Fingerprint {
		o.Fingerprint = append(o.Fingerprint, a.Name)
	}
	for _, f := range k.Final {
		o.Final = append(o.Final, f.Name)
	}
	switch {
	case k.Pending.Reject:
		o.Pending = "reject"
	case k.Pending.Wait > 0:
		o.Pending = "wait=" + Short(k.Pending.Wait)
	}
	switch {
	case k.Recover == model.Refuse:
		o.Recover = "refuse"
	case k.Ask != nil && k.Ask.Method != "":
		o.Recover = "ask " + k.Ask.Method
	case k.Ask != nil:
		o.Recover = "ask " + source(k.Ask.Function)
	}
	switch k.Codec.Kind {
	case model.Proto:
		o.Codec = "proto"
	case model.Custom:
		o.Codec = source(k.Codec.Expr)
	}
	return o
}

// source writes code as it stands in a directive, but for the names of imports.
func source(code model.Code) string {
	var b strings.Builder
	for _, p := range code {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Short writes a duration without the units that are zero: 48h and not 48h0m0s.
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
