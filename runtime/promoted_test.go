package idem

import "testing"

type (
	base   struct{ Amount, Note int }
	rival  struct{ Amount int }
	Shared struct{ Amount int }
)

// Fields that are reached through a struct that is embedded without being
// exported count as those of the outer one, where nothing hides them.
func TestPromotedFields(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{struct {
			base
			ID string
		}{base{5, 6}, "x"}, "{6:Amounti5;2:IDs1:x4:Notei6;}"},
		{struct{ base }{base{Amount: 5}}, "{6:Amounti5;}"},
		{struct {
			base
			Amount string
		}{base{5, 6}, "outer"}, "{6:Amounts5:outer4:Notei6;}"},
		{struct {
			base
			rival
		}{base{5, 6}, rival{7}}, "{4:Notei6;}"},
		{struct {
			*base
			ID string
		}{&base{5, 6}, "x"}, "{2:IDs1:x}"},
		{struct{ Shared }{Shared{5}}, "{6:Shared{6:Amounti5;}}"},
	} {
		if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(c.v) }); got != c.want {
			t.Errorf("%+v: %q, want %q", c.v, got, c.want)
		}
	}
}
