package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/internal/model"
)

// resultChanges compares the shapes of the results. What was added replays as
// its zero value and is no drift.
func (e *Entry) resultChanges(now *Entry) []string {
	if len(e.Results) != len(now.Results) {
		return []string{fmt.Sprintf("%s has %s now, and had %s: %s: restore them; %s",
			now.name(), count(len(now.Results), "result"), count(len(e.Results), "result"), breaks, e.version())}
	}
	c := newComparison(e.Objects, now.Objects, wording{
		gone: func(at, name string) string {
			return fmt.Sprintf("%s is gone from the result: %s: %s; %s", at, loses, rename("member", name), accept)
		},
		changed: func(at, was, is string) string {
			return fmt.Sprintf("%s is %s now, and was %s: %s: restore its type, or add another member and leave this one; %s", at, is, was, breaks, e.version())
		},
	})
	for i, was := range e.Results {
		path := "result"
		if name, ok := object(now.Results[i]); ok {
			path = name
		} else if len(e.Results) > 1 {
			path = fmt.Sprintf("result %d", i+1)
		}
		c.compare(path, was, now.Results[i])
	}
	return c.texts
}

// finalChanges compares the errors that are recorded.
func (e *Entry) finalChanges(now *Entry) []string {
	var texts []string
	for _, f := range e.Finals {
		i := slices.IndexFunc(now.Finals, func(n Final) bool { return n.Name == f.Name })
		if i < 0 {
			texts = append(texts, fmt.Sprintf("%s is not final any more: %s: name it in //idem:final; %s", f.Name, breaksError, accept))
			continue
		}
		c := newComparison(e.Objects, now.Objects, wording{
			gone: func(at, name string) string {
				return fmt.Sprintf("%s is gone from the error %s: %s: %s; %s", at, f.Name, losesError, rename("field", name), accept)
			},
			changed: func(at, was, is string) string {
				return fmt.Sprintf("%s is %s now, and was %s: %s: restore its type, or add another field and leave this one; %s", at, is, was, breaksError, e.version())
			},
		})
		c.compare(strings.TrimLeft(f.Name, "*"), f.Type, now.Finals[i].Type)
		texts = append(texts, c.texts...)
	}
	return texts
}

// rename says how to keep what is recorded under a name.
func rename(what, name string) string {
	return fmt.Sprintf("keep the %s; if it was renamed, keep its name with the tag `json:%q`", what, name)
}

func byName(list []model.Object) map[string][]model.Member {
	all := map[string][]model.Member{}
	for _, o := range list {
		all[o.Name] = o.Members
	}
	return all
}

// object returns the name in a type that is an object.
func object(typ string) (name string, ok bool) {
	if !strings.HasPrefix(typ, "{") {
		return "", false
	}
	return strings.Trim(typ, "{}"), true
}

// A comparison walks two shapes side by side.
type comparison struct {
	was, is map[string][]model.Member
	seen    map[[2]string]bool // pairs of types
	texts   []string
	wording
}

// A wording says what running systems notice.
type wording struct {
	gone    func(at, name string) string
	changed func(at, was, is string) string

	// covered is for what fingerprints cover. Unlike encoding/json these know
	// fields by their exact names, and write no elements of arrays that are
	// zero, so that arrays can grow.
	covered bool
}

func newComparison(was, is []model.Object, w wording) comparison {
	return comparison{was: byName(was), is: byName(is), seen: map[[2]string]bool{}, wording: w}
}

func (c *comparison) compare(path, was, is string) {
	pair := [2]string{was, is}
	if c.seen[pair] {
		return
	}
	c.seen[pair] = true
	if was == model.Unknown || is == model.Unknown {
		return
	}
	oldName, wasObject := object(was)
	newName, isObject := object(is)
	if wasObject && isObject {
		c.members(path, c.was[oldName], c.is[newName])
		return
	}
	oldPrefix, oldElem := constructor(was)
	newPrefix, newElem := constructor(is)
	if c.covered && length(oldPrefix) > 0 && length(newPrefix) > length(oldPrefix) {
		newPrefix = oldPrefix
	}
	switch {
	case oldPrefix != newPrefix || oldPrefix == "" && was != is:
		c.texts = append(c.texts, c.changed(path, show(was), show(is)))
	case oldPrefix == "*":
		c.compare(path, oldElem, newElem)
	case oldPrefix != "":
		c.compare(path+"[]", oldElem, newElem)
	}
}

// show names a type for a message.
func show(typ string) string {
	return strings.NewReplacer("{", "", "}", "").Replace(typ)
}

// constructor takes what makes a type of another one off: *, [], [3], map[K].
func constructor(typ string) (prefix, elem string) {
	switch {
	case strings.HasPrefix(typ, "*"):
		return "*", typ[1:]
	case strings.HasPrefix(typ, "["), strings.HasPrefix(typ, "map["):
		depth := 0
		for i, r := range typ {
			switch r {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 {
					return typ[:i+1], typ[i+1:]
				}
			}
		}
	}
	return "", ""
}

// length is the one of the array that a constructor makes, 0 if it makes none.
func length(prefix string) int {
	n, _ := strconv.Atoi(strings.Trim(prefix, "[]"))
	return n
}

// members compares two objects.
func (c *comparison) members(path string, was, is []model.Member) {
	for _, old := range was {
		at := path + "." + old.Name
		m, ok := c.find(is, old.Name)
		if !ok {
			c.texts = append(c.texts, c.gone(at, old.Name))
			continue
		}
		c.compare(at, old.Type, m.Type)
	}
}

// find finds a member by its name, which for encoding/json can differ in case.
func (c *comparison) find(list []model.Member, name string) (model.Member, bool) {
	for _, m := range list {
		if m.Name == name {
			return m, true
		}
	}
	for _, m := range list {
		if !c.covered && strings.EqualFold(m.Name, name) {
			return m, true
		}
	}
	return model.Member{}, false
}
