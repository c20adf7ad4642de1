package lock

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator/internal/model"
)

// read parses blocks of a lock file, without its head.
func read(t *testing.T, blocks string) []Entry {
	t.Helper()
	entries, problems := Parse("idem.lock", []byte(Header+"\n"+format+"\n"+blocks))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return entries
}

const charge = `
operation shop.Charge
	package m/shop
	method Shop.Charge(ctx,req)
	key string req.Customer
	key (A:int,B:[]string) req.Place
	fingerprint *{Request} req
	fields Item SKU:string
	fields Request Grid:[2]int Lines:[]{Item} Note:*string
	codec json
	final ErrDeclined
	final *Limit[struct{ N int }] *{Limit}
	vector shop.Charge/a/(1,(a))
	result {Receipt}
	object Limit
		Left int
		Until time
	object Receipt
		ID string
		Lines []{Line}
		the total map[string]*{Money}
	object Line
		Next *{Line}
		Text string
	object Money
		Units int64
`

const refund = `
operation shop.Refund
	package m/shop
	build linux
	method Shop.Refund(id)
	key string id
	codec json
	vector shop.Refund/a
`

func TestTextIsWhatWasParsed(t *testing.T) {
	text := Header + "\n" + format + "\n" + charge + refund
	for name, source := range map[string]string{
		"as written": text,
		"with the line ends of Windows and other blank lines": strings.ReplaceAll(strings.ReplaceAll(text, "\n\n", "\n\n\n"), "\n", "\r\n"),
		"in another order": Header + "\n" + format + "\n" + refund + charge,
	} {
		entries, problems := Parse("idem.lock", []byte(source))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		if got := string(Text(entries)); got != text {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestParseReportsWhatItDoesNotKnow(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		part string
	}{
		"a later format":           {Header + "\nformat 3\n" + charge, 2, "or a later one"},
		"an earlier format":        {Header + "\nformat 1\n" + charge, 2, "remove it and run idemgen"},
		"no format":                {charge, 2, "or a later one"},
		"a conflict":               {Header + "\n" + format + "\n<<<<<<< ours\n" + charge, 3, "after a merge"},
		"a conflict inside":        {Header + "\n" + format + "\n" + charge + "=======\n", 29, "after a merge"},
		"an unknown word":          {Header + "\n" + format + "\noperation a\n\tnonsense b\n", 4, "nonsense b"},
		"a line before all blocks": {Header + "\n" + format + "\n\tpackage p\n", 3, "package p"},
		"a member of nothing":      {Header + "\n" + format + "\noperation a\n\t\tID string\n", 4, "ID string"},
		"a member without a type":  {Header + "\n" + format + "\noperation a\n\tobject A\n\t\tID\n", 5, "ID"},
		"fields of nothing":        {Header + "\n" + format + "\noperation a\n\tfields\n", 4, "fields"},
		"a field without a type":   {Header + "\n" + format + "\noperation a\n\tfields A B\n", 4, "fields A B"},
		"a block that was doubled": {Header + "\n" + format + "\n" + refund + refund, 12, "twice"},
	} {
		_, problems := Parse("idem.lock", []byte(c.text))
		if len(problems) != 1 || problems[0].Position.Line != c.line || !strings.Contains(problems[0].Message, c.part) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// replaced returns the charge with something else in it.
func replaced(t *testing.T, pairs ...string) []Entry {
	t.Helper()
	text := strings.NewReplacer(pairs...).Replace(charge)
	if text == charge {
		t.Fatalf("%q is not in the block", pairs)
	}
	return read(t, text)
}

func everything(*Entry) bool { return true }

func TestCompareEntries(t *testing.T) {
	for name, c := range map[string]struct {
		now  []Entry
		want []string // parts of the drifts, in order
	}{
		"a member more":               {replaced(t, "\t\tID string\n", "\t\tID string\n\t\tNote string\n"), nil},
		"a member in another case":    {replaced(t, "\t\tID string\n", "\t\tid string\n"), nil},
		"objects under other names":   {replaced(t, "Receipt", "Answer", "{Line}", "{Row}", "object Line", "object Row"), nil},
		"a parameter by another name": {replaced(t, "req", "r"), nil},
		"parameters in another order": {replaced(t, "(ctx,req)", "(req,ctx)"), nil},
		"a field by another name":     {replaced(t, "A:int", "Z:int"), nil},
		"no fingerprint":              {replaced(t, "\tfingerprint *{Request} req\n", ""), nil},
		"a final error more":          {replaced(t, "\tfinal ErrDeclined\n", "\tfinal ErrDeclined\n\tfinal ErrLate\n"), nil},
		"another file":                {replaced(t, "\tpackage m/shop\n", "\tpackage m/shop\n\tbuild linux\n"), nil},
		"another package":             {replaced(t, "\tpackage m/shop\n", "\tpackage m/store\n"), nil},
		"a member of unknown type":    {replaced(t, "[]{Line}", "unknown"), nil},

		"a field more":                     {replaced(t, "Grid:[2]int", "Big:int Grid:[2]int"), nil},
		"an array that is longer":          {replaced(t, "Grid:[2]int", "Grid:[4]int"), nil},
		"fields of a type by another name": {replaced(t, "{Item}", "{Thing}", "fields Item", "fields Thing"), nil},
		"a member of the error more":       {replaced(t, "\t\tLeft int\n", "\t\tBack string\n\t\tLeft int\n"), nil},

		"a field less":                  {replaced(t, "Grid:[2]int ", ""), []string{"req.Grid is gone from the fingerprint: if it was set, " + conflicts}},
		"a field in another case":       {replaced(t, "Grid", "grid"), []string{"req.Grid is gone"}},
		"a field deep inside":           {replaced(t, "SKU:string", "Code:string"), []string{"req.Lines[].SKU is gone from the fingerprint"}},
		"a field retyped":               {replaced(t, "[2]int", "[2]float"), []string{"req.Grid[] is fingerprinted as float now, and was as int: if it was set, " + conflicts}},
		"an array that is shorter":      {replaced(t, "[2]int", "[1]int"), []string{"req.Grid is fingerprinted as [1]int now, and was as [2]int"}},
		"a field without a pointer":     {replaced(t, "Note:*string", "Note:string"), []string{"req.Note is fingerprinted as string now, and was as *string"}},
		"no pointer any more":           {replaced(t, "*{Request}", "{Request}"), []string{"req is fingerprinted as Request now, and was as *Request"}},
		"a function of an argument":     {replaced(t, "{Request} req", "{Request} old(req)"), []string{"covers old(req) now, and covered req: if its values are others, " + conflicts}},
		"a member of the error less":    {replaced(t, "\t\tLeft int\n", ""), []string{"Limit[struct{ N int }].Left is gone from the error *Limit[struct{ N int }]: " + losesError}},
		"a member of the error retyped": {replaced(t, "Until time", "Until int"), []string{"].Until is int now, and was time: " + breaksError}},

		"a member less":              {replaced(t, "\t\tID string\n", ""), []string{"Receipt.ID is gone from the result: " + loses}},
		"a member deep inside":       {replaced(t, "\t\tUnits int64\n", "\t\tCents int64\n"), []string{"Receipt.the total[].Units is gone"}},
		"a member of another type":   {replaced(t, "Text string", "Text int"), []string{"Receipt.Lines[].Text is int now, and was string: " + breaks}},
		"no object any more":         {replaced(t, "[]{Line}", "[]string"), []string{"Receipt.Lines[] is string now, and was Line"}},
		"no list any more":           {replaced(t, "[]{Line}", "{Line}"), []string{"Receipt.Lines is Line now, and was []Line"}},
		"a map with other keys":      {replaced(t, "map[string]", "map[int]"), []string{"Receipt.the total is map[int]*Money now"}},
		"a result more":              {replaced(t, "\tresult {Receipt}\n", "\tresult {Receipt}\n\tresult int\n"), []string{"Shop.Charge has 2 results now, and had 1 result"}},
		"another codec":              {replaced(t, "codec json", "codec proto"), []string{"recorded as proto now, and were as json: " + breaks}},
		"a final error less":         {replaced(t, "\tfinal ErrDeclined\n", ""), []string{"ErrDeclined is not final any more"}},
		"another argument":           {replaced(t, "fingerprint *{Request} req", "fingerprint int req.Amount"), []string{"covers req.Amount now, and covered req: " + conflicts}},
		"a part less":                {replaced(t, "\tkey string req.Customer\n", ""), []string{"has 1 part now, and had 2 parts: " + runsAgain}},
		"parts in another order":     {replaced(t, "string req.Customer", "(A:int,B:[]string) req.Place", "(A:int,B:[]string) req.Place", "string req.Customer"), []string{"in the order req.Place, req.Customer now"}},
		"a part of another type":     {replaced(t, "string req.Customer", "int req.Customer"), []string{"req.Customer is encoded as int now, and was as string"}},
		"fields in another order":    {replaced(t, "A:int,B:[]string", "B:int,A:[]string"), []string{"req.Place is encoded as (B:int,A:[]string) now"}},
		"a field of another type":    {replaced(t, "A:int", "A:bool"), []string{"req.Place is encoded as (A:bool"}},
		"another value":              {replaced(t, "req.Customer", "req.Payer"), []string{"key part 1 is req.Payer now, and was req.Customer"}},
		"another encoding of values": {replaced(t, "/a/(1,(a))", "/b"), []string{"the keys of sample values are others"}},
		"another name":               {replaced(t, "shop.Charge", "shop.Pay"), []string{"it is called shop.Pay now"}},
		"none of it":                 {nil, []string{"(Shop.Charge of m/shop) is gone"}},
		"another operation":          {read(t, refund), []string{"is gone"}},
	} {
		drifts := Compare(read(t, charge), c.now, everything)
		if len(drifts) != len(c.want) {
			t.Errorf("%s: %v", name, drifts)
			continue
		}
		for i, d := range drifts {
			if !strings.Contains(d.Message, c.want[i]) || !strings.Contains(d.Message, "shop.Charge") || !strings.Contains(d.Message, "idemgen -accept") {
				t.Errorf("%s: %s", name, d.Message)
			}
		}
	}
}

func TestCompareTwoResults(t *testing.T) {
	two := "\noperation o\n\tpackage m\n\tmethod P.Do(id)\n\tkey string id\n\tcodec json\n\tresult int\n\tresult [2]json(m.T)\n"
	drifts := Compare(read(t, two), read(t, strings.ReplaceAll(two, "m.T", "m.U")), everything)
	if len(drifts) != 1 || !strings.Contains(drifts[0].Message, "result 2[] is json(m.U) now, and was json(m.T)") {
		t.Error(drifts)
	}
}

// What was recorded while a type was missing says nothing of it.
func TestCompareUnknownResult(t *testing.T) {
	if drifts := Compare(replaced(t, "[]{Line}", "unknown"), read(t, charge), everything); len(drifts) > 0 {
		t.Error(drifts)
	}
}

// operations lists what is recorded.
func operations(entries []Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, strings.TrimSpace(e.Operation+" "+e.Package+" "+e.Constraint))
	}
	return strings.Join(list, ", ")
}

// block is an entry without more than its name.
func block(operation, pkg, constraint string) string {
	if constraint != "" {
		constraint = "\tbuild " + constraint + "\n"
	}
	return "\noperation " + operation + "\n\tpackage " + pkg + "\n" + constraint + "\tmethod I." + operation + "(x)\n\tkey string x\n\tcodec json\n"
}

func TestMerge(t *testing.T) {
	inA := func(e *Entry) bool { return e.Package == "a" }
	for name, c := range map[string]struct {
		recorded, current string
		drifts            int
		refused, accepted string
	}{
		"a new one": {
			block("A", "a", ""), block("A", "a", "") + block("B", "a", ""), 0,
			"A a, B a", "A a, B a",
		},
		"another package": {
			block("B", "b", ""), block("A", "a", ""), 0,
			"A a, B b", "A a, B b",
		},
		"one is gone": {
			block("A", "a", "") + block("C", "a", ""), block("A", "a", ""), 1,
			"A a, C a", "A a",
		},
		"one is in another package, under its name": {
			block("A", "a", ""), block("A", "b", ""), 0,
			"A b", "A b",
		},
		"one is recorded where it moved to": {
			block("A", "a", "") + block("A", "b", ""), "", 0,
			"A b", "A b",
		},
		"one is declared where it was recorded too": {
			block("A", "a", "") + block("A", "b", ""), block("A", "b", ""), 0,
			"A b", "A b",
		},
		"two configurations": {
			block("A", "a", "linux") + block("A", "a", "windows"), block("A", "a", "linux"), 0,
			"A a linux, A a windows", "A a linux, A a windows",
		},
		"one is gone from a configuration": {
			block("A", "a", "linux") + block("B", "a", "linux"), block("A", "a", "linux"), 1,
			"A a linux, B a linux", "A a linux",
		},
		"two with a name of their own each": {
			block("A", "a", "") + block("B", "a", ""), block("X", "a", "") + block("Y", "a", ""), 2,
			"A a, B a, X a, Y a", "X a, Y a",
		},
	} {
		recorded, current := read(t, c.recorded), read(t, c.current)
		if drifts := Compare(recorded, current, inA); len(drifts) != c.drifts {
			t.Errorf("%s: %v", name, drifts)
		}
		if got := operations(Merge(recorded, current, inA, false)); got != c.refused {
			t.Errorf("%s: got %s", name, got)
		}
		if got := operations(Merge(recorded, current, inA, true)); got != c.accepted {
			t.Errorf("%s: accepted, got %s", name, got)
		}
	}
}

// What is gone is told at what most likely replaced it: the method of the same
// name before any other that has such a key.
func TestSuccessor(t *testing.T) {
	old := read(t, "\noperation P.B\n\tpackage m\n\tmethod P.B(x)\n\tkey string x\n")
	now := read(t, "\noperation Q.A\n\tpackage m\n\tmethod Q.A(x)\n\tkey string x\n"+
		"\noperation Q.B\n\tpackage m\n\tmethod Q.B(y)\n\tkey string y\n"+
		"\noperation Q.C\n\tpackage m\n\tmethod Q.C(y)\n\tkey int y\n")
	for want, current := range map[string][]Entry{"it is called Q.B now": now, "it is called Q.A now": now[:1], "is gone": now[2:]} {
		drifts := Compare(old, current, everything)
		if len(drifts) != 1 || !strings.Contains(drifts[0].Message, want) {
			t.Errorf("want %s: %v", want, drifts)
		}
	}
}

func TestEntries(t *testing.T) {
	part := model.Part{Source: "f(\n\t1)", Plan: model.Plan{Kind: model.Int}}
	method := model.Method{
		Name:   "Do",
		Params: []model.Parameter{{Name: "ctx"}, {Name: "_"}, {}},
		Keyed: &model.Keyed{Operation: "p.P.Do", Parts: []model.Part{part},
			Final: []model.Final{{Name: "ErrLate"}, {Name: "*Late", Type: true}}, Shape: model.Shape{Finals: []string{"", "*{Late}"}}},
	}
	iface := model.Interface{Name: "P", Methods: []model.Method{{Name: "Close"}, method}}
	inherits := iface
	inherits.Name = "Q"
	got := Entries([]model.File{
		{Path: "p_idem.go", PackagePath: "m/p", Constraint: "linux", Interfaces: []model.Interface{iface, inherits}},
		{Path: "p_idem_test.go", PackagePath: "m/p", Interfaces: []model.Interface{iface}},
	})
	if len(got) != 1 {
		t.Fatalf("%d entries", len(got))
	}
	e := got[0]
	if e.Method != "P.Do(ctx,_1,_2)" || e.Constraint != "linux" || e.Parts[0] != (Part{"int", "f( 1)"}) ||
		!slices.Equal(e.Finals, []Final{{"ErrLate", ""}, {"*Late", "*{Late}"}}) || !slices.Equal(e.Vectors, []string{"p.P.Do/1", "p.P.Do/-2", "p.P.Do/127"}) {
		t.Errorf("got %+v", e)
	}
}
