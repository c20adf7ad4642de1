package emit

import (
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/generator/internal/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are printed to testdata/NAME.golden.
var cases = map[string]func() model.File{
	"composites": composites,
	"copies":     copies,
	"generic":    genericInterface,
	"options":    options,
	"results":    results,
	"names":      hiddenNames,
	"nocopy":     noCopy,
}

func TestGolden(t *testing.T) {
	for name, file := range cases {
		t.Run(name, func(t *testing.T) {
			outputs, err := Files([]model.File{file()})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, outputs[0], 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(outputs[0]); got != string(want) {
				t.Errorf("%s differs (rewrite it with -update):\n%s", path, got)
			}
		})
	}
}

// composites has a part and an argument of every shape.
func composites() model.File {
	line := structOf("model.Line", fieldOf("SKU", str), fieldOf("Quantity", integer))
	line.ID = 1
	line.Fields = append(line.Fields, fieldOf("Kids", of(model.Slice, "[]model.Line", model.Plan{Kind: model.Ref, Ref: 1})))
	identifier := model.Plan{Kind: model.Identifier, Type: code("[16]byte")}
	address := model.Plan{Kind: model.AppendText, Type: code("netip.Addr"), Zero: true}
	order := structOf("Order",
		fieldOf("ID", identifier),
		fieldOf("Address", address),
		fieldOf("Amount", model.Plan{Kind: model.TextAddress, Type: code("model.Amount")}),
		fieldOf("Level", model.Plan{Kind: model.MarshalText, Type: code("model.Level")}),
		fieldOf("Note", of(model.Pointer, "*string", str)),
		fieldOf("Deep", of(model.Pointer, "**string", of(model.Pointer, "*string", str))),
		fieldOf("Tags", mapOf("map[string][]string", of(model.Slice, "[]string", str))),
		fieldOf("Refs", mapOf("map[string]model.Amount", model.Plan{Kind: model.TextAddress, Type: code("model.Amount")})),
		fieldOf("Pair", of(model.Array, "[2]int", integer)),
		fieldOf("Lines", of(model.Slice, "[]model.Line", line)),
		fieldOf("Size", structOf("struct{ W int; H int }", fieldOf("W", integer), fieldOf("H", integer))),
		fieldOf("Raw", model.Plan{Kind: model.Bytes, Type: code("model.Raw")}),
		fieldOf("At", model.Plan{Kind: model.Time, Type: code("model.Instant")}),
		fieldOf("Colors", of(model.Bytes, "[]model.Color", model.Plan{Kind: model.Uint, Type: code("model.Color")})),
		fieldOf("Pixel", of(model.Identifier, "[3]model.Color", model.Plan{Kind: model.Uint, Type: code("model.Color")})),
	)
	return fileOf(model.Method{
		Name:    "Place",
		Params:  params("ctx", "context.Context", "order", "Order", "next", "*Order"),
		Results: params("", "error"),
		Keyed: &model.Keyed{
			Operation: "payments.Place",
			Parts: []model.Part{
				part("$1", order),
				part("$1.ID", identifier),
				part("$1.Identify()", identifier),
				part("$1.Lines", of(model.Slice, "[]model.Line", line)),
				part("$1.Note", of(model.Pointer, "*string", str)),
				part("len($1.Lines)", integer),
				part("$1.Raw", exact(model.Bytes, "[]byte")),
				part("$1.At", exact(model.Time, "time.Time")),
				part("$1.Tags", mapOf("map[string]string", str)),
				part("$1.Empty", of(model.Slice, "[]struct{}", structOf("struct{}"))),
				{Source: "void", Expr: code("tenant($0)"), Error: true, Plan: structOf("struct{}")},
			},
			Fingerprint: []model.Argument{
				argument("order", "$1", order),
				argument("next", "$2", of(model.Pointer, "*Order", order)),
				argument("sets", "$1.Sets", mapOf("map[string]struct{}", structOf("struct{}"))),
				argument("empty", "$1.Empty()", of(model.Array, "[2]struct{}", structOf("struct{}"))),
				argument("void", "$1.Void()", structOf("struct{}")),
				argument("order.Total()", "$1.Total()", of(model.Slice, "[]int", integer)),
			},
		},
	})
}

// copies has a result of every shape that shares memory.
func copies() model.File {
	node := structOf("Node", fieldOf("Kids", of(model.Slice, "[]*Node", of(model.Pointer, "*Node", model.Plan{Kind: model.Ref, Ref: 7}))))
	node.ID = 7
	receipt := structOf("Receipt",
		fieldOf("ID", assign),
		fieldOf("Raw", model.Plan{Kind: model.Bytes, Type: code("[]byte")}),
		fieldOf("Lines", of(model.Slice, "[]string", assign)),
		fieldOf("Parts", of(model.Slice, "[][]byte", model.Plan{Kind: model.Bytes, Type: code("[]byte")})),
		fieldOf("Tags", mapOf("map[string]string", assign)),
		fieldOf("Sets", mapOf("map[string][]string", of(model.Slice, "[]string", assign))),
		fieldOf("Nodes", mapOf("map[string]*Node", of(model.Pointer, "*Node", node))),
		fieldOf("Note", of(model.Pointer, "*string", assign)),
		fieldOf("Root", node),
		fieldOf("Pair", of(model.Array, "[2][]string", of(model.Slice, "[]string", assign))),
		fieldOf("Inner", structOf("struct{ S []string }", fieldOf("S", of(model.Slice, "[]string", assign)))),
		fieldOf("Plain", structOf("Plain", fieldOf("N", assign))),
	)
	plan := func(p model.Plan) *model.Keyed {
		return &model.Keyed{Operation: "op", Context: -1, Parts: []model.Part{part("$0", str)}, Copy: []model.Plan{p}}
	}
	method := func(name, result string, p model.Plan) model.Method {
		return model.Method{Name: name, Params: params("id", "string"), Results: params("", result, "", "error"), Keyed: plan(p)}
	}
	return fileOf(
		method("Get", "Receipt", receipt),
		method("Find", "*Receipt", of(model.Pointer, "*Receipt", receipt)),
		method("Name", "string", str),
		method("Plain", "Plain", model.Plan{Kind: model.Assign, Type: code("Plain")}),
		method("List", "[]string", of(model.Slice, "[]string", assign)),
	)
}

// genericInterface has type parameters, one of which hides a type.
func genericInterface() model.File {
	pair := structOf("Pair[K, V]", fieldOf("Key", model.Plan{Kind: model.Reflect, Type: code("K")}), fieldOf("Value", str))
	fixed := structOf("Fixed", fieldOf("Name", str))
	f := fileOf(model.Method{
		Name:     "Put",
		Params:   params("ctx", "context.Context", "K", "K", "pairs", "Pair[K, V]"),
		Results:  params("", "Pair[K, V]", "", "error"),
		Variadic: true,
		Keyed: &model.Keyed{
			Operation:   "payments.Put",
			Parts:       []model.Part{part("$1", model.Plan{Kind: model.Reflect, Type: code("K")})},
			Fingerprint: []model.Argument{argument("pairs", "$2", of(model.Slice, "[]Pair[K, V]", pair))},
			Copy:        []model.Plan{structOf("Pair[K, V]", fieldOf("List", of(model.Slice, "[]string", assign)))},
		},
	}, model.Method{
		Name:    "Both",
		Params:  params("", "Fixed", "V", "V"),
		Results: params("", "K", "", "model.Line", "", "error"),
		Keyed: &model.Keyed{
			Operation:   "payments.Both",
			Context:     -1,
			Parts:       []model.Part{part("$0", fixed)},
			Fingerprint: []model.Argument{argument("arg1", "$0", fixed)},
		},
	})
	f.Taken = []string{"K"}
	f.Packages = maps.Clone(packages)
	f.Packages["example.com/model"] = model.Package{Name: "model", Alias: "V"}
	f.Interfaces[0].TypeParams = []model.TypeParameter{
		{Name: "K", Constraint: code("comparable")},
		{Name: "V", Constraint: code("interface{ Key() K }")},
	}
	return f
}

// options has every option of a method.
func options() model.File {
	keyed := func(change func(*model.Keyed)) *model.Keyed {
		k := &model.Keyed{Operation: "op", Parts: []model.Part{part("$1", str)}}
		change(k)
		return k
	}
	method := func(name string, change func(*model.Keyed)) model.Method {
		return model.Method{
			Name: name, Params: params("ctx", "context.Context", "id", "string"),
			Results: params("", "error"), Keyed: keyed(change),
		}
	}
	f := fileOf(
		method("Hours", func(k *model.Keyed) { k.TTL = 48 * time.Hour }),
		method("Day", func(k *model.Keyed) { k.TTL, k.Lease = time.Hour, 90*time.Second }),
		method("Ever", func(k *model.Keyed) { k.TTL, k.Lease = math.MaxInt64, 1500*time.Millisecond }),
		method("Reject", func(k *model.Keyed) { k.Pending.Reject = true }),
		method("Wait", func(k *model.Keyed) { k.Pending.Wait = 7 * time.Microsecond }),
		method("Refuse", func(k *model.Keyed) { k.Recover, k.Optional = model.Refuse, true }),
		method("Odd", func(k *model.Keyed) { k.TTL = 1 }),
		method("Tx", func(k *model.Keyed) { k.Tx = true }),
		method("Txs", func(k *model.Keyed) { k.Tx, k.Optional = true, true }),
		model.Method{Name: "A"}, model.Method{Name: "B"}, model.Method{Name: "C"}, model.Method{Name: "D"},
		model.Method{Name: "E"}, model.Method{Name: "F"}, model.Method{Name: "G"},
	)
	f.Constraint = "linux && !cgo"
	return f
}

// results has every way to return.
func results() model.File {
	failing := model.Part{Source: "tenant(ctx)", Expr: code("tenant($0)"), Error: true, Plan: str}
	method := func(name string, results []model.Parameter, parts ...model.Part) model.Method {
		return model.Method{
			Name: name, Params: params("ctx", "context.Context", "from", "string", "to", "string"), Results: results,
			Keyed: &model.Keyed{Operation: "op", Parts: parts},
		}
	}
	id := part("$1", str)
	return fileOf(
		method("None", params("", "error"), id),
		method("NoneNamed", params("err", "error"), id),
		method("NoneFailing", params("", "error"), failing),
		method("One", params("", "string", "", "error"), id),
		method("OneNamed", params("_", "string", "err", "error"), id),
		method("OneFailing", params("", "string", "", "error"), id, failing),
		method("OneFailingBlank", params("_", "string", "_", "error"), failing, failing),
		method("Two", params("", "string", "", "Receipt", "", "error"), id),
		method("TwoNamed", params("debit", "Receipt", "results", "Receipt", "err", "error"), id),
		method("TwoFailing", params("debit", "Receipt", "w", "Receipt", "error", "error"), failing),
		model.Method{Name: "Balance", Params: params("", "context.Context", "_", "string"), Results: params("", "string", "", "error")},
		model.Method{Name: "Log", Params: params("format", "string", "args", "any"), Variadic: true},
		model.Method{Name: "Same", Params: params("a", "string", "b", "string"), Variadic: true, Results: params("n", "string", "m", "string")},
	)
}

// hiddenNames has parameters called like everything that a body mentions.
func hiddenNames() model.File {
	keyed := func(parts ...model.Part) *model.Keyed { return &model.Keyed{Operation: "op", Parts: parts} }
	f := fileOf(
		model.Method{
			Name:    "Locals",
			Params:  params("key", "context.Context", "fp", "string", "w", "string", "err", "string", "results", "string", "paymentsLocalsResults2", "string"),
			Results: params("", "string", "", "Receipt", "", "error"),
			Keyed: &model.Keyed{
				Operation: "op", Parts: []model.Part{part("$1", str)},
				Fingerprint: []model.Argument{argument("w", "$2", str)},
			},
		},
		model.Method{
			Name:    "Imports",
			Params:  params("idem", "context.Context", "context", "string", "model", "string"),
			Results: params("", "model.Line", "", "error"),
			Keyed:   keyed(part("$1", str)),
		},
		model.Method{
			Name:    "Predeclared",
			Params:  params("string", "context.Context", "error", "string", "nil", "string", "int64", "int"),
			Results: params("", "string", "", "error"),
			Keyed:   keyed(part("$1", str), part("$3", integer)),
		},
		model.Method{
			Name:    "Package",
			Params:  params("tenant", "context.Context", "Receipt", "Receipt"),
			Results: params("", "Receipt", "", "error"),
			Keyed:   keyed(model.Part{Source: "tenant(ctx)", Expr: code("tenant($0)"), Error: true, Plan: str}),
		},
		model.Method{
			Name:    "Helpers",
			Params:  params("appendKeyPaymentsOrder", "context.Context", "order", "Order"),
			Results: params("", "error"),
			Keyed:   keyed(part("$1", structOf("Order", fieldOf("ID", str)))),
		},
		model.Method{Name: "helpers"},
		model.Method{Name: "next"},
		model.Method{
			Name:    "Through",
			Params:  params("string", "string", "url", "*url.URL", "any", "yaml.Node"),
			Results: params("", "url.Values", "", "netip.Addr"),
		},
		model.Method{
			Name:    "Local",
			Params:  params("ctx", "context.Context", "id", "key.K"),
			Results: params("", "error"),
			Keyed:   keyed(part("key.Of($1)", str)),
		},
	)
	f.Taken = []string{"Payments", "Receipt", "tenant", "netip", "paymentsLocalsResults"}
	return f
}

// noCopy has a request that holds a lock.
func noCopy() model.File {
	locked := structOf("Locked", fieldOf("Name", str))
	locked.NoCopy = true
	request := structOf("Request",
		fieldOf("One", locked),
		fieldOf("Many", of(model.Slice, "[]Locked", locked)),
		fieldOf("Few", of(model.Array, "[2]Locked", locked)),
		fieldOf("Next", of(model.Pointer, "*Locked", locked)),
		fieldOf("Level", model.Plan{Kind: model.AppendText, Type: code("model.Level"), Zero: true, NoCopy: true}),
	)
	request.NoCopy = true
	return fileOf(model.Method{
		Name:    "Do",
		Params:  params("ctx", "context.Context", "request", "*Request"),
		Results: params("", "error"),
		Keyed: &model.Keyed{
			Operation:   "op",
			Parts:       []model.Part{part("$1.Name", str)},
			Fingerprint: []model.Argument{argument("request", "$1", of(model.Pointer, "*Request", request))},
		},
	})
}

// The outputs of two files declare different names, even where they need the
// same functions and the names would meet.
func TestFilesOfOnePackage(t *testing.T) {
	first, second := copies(), copies()
	second.Interfaces[0].Name = "payments"
	second.Interfaces[0].Wrapper = "idempotentPayments"
	second.Interfaces[0].Constructor = "newIdempotentPayments"
	second.Interfaces = append(second.Interfaces, model.Interface{Name: "Odd", Wrapper: "copyPaymentsNode", Constructor: "copyPaymentsNode2"})
	outputs, err := Files([]model.File{first, second})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"func copyPaymentsReceipt(", "func copyPaymentsReceipt2("} {
		if !strings.Contains(string(outputs[i]), name) {
			t.Errorf("output %d does not have %s", i, name)
		}
	}
	if name := "func copyPaymentsNode3("; !strings.Contains(string(outputs[0]), name) {
		t.Errorf("the first output does not leave the second one's wrapper its name: no %s", name)
	}
}

func TestFilesReportsItsFaults(t *testing.T) {
	f := options()
	f.Interfaces[0].Name = "no identifier"
	if _, err := Files([]model.File{f}); err == nil || !strings.Contains(err.Error(), f.Path) {
		t.Errorf("the error is %v, want one with the file", err)
	}
}

func TestEnumeration(t *testing.T) {
	for want, items := range map[string][]string{
		"":           nil,
		"a":          {"a"},
		"a and b":    {"a", "b"},
		"a, b and c": {"a", "b", "c"},
	} {
		if got := enumeration(items); got != want {
			t.Errorf("enumeration(%q) = %q, want %q", items, got, want)
		}
	}
}
