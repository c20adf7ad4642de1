package lock

import (
	"fmt"
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
	c := comparison{version: e.version(), was: objects(e), is: objects(now), seen: map[[2]string]bool{}}
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

func objects(e *Entry) map[string][]model.Member {
	all := map[string][]model.Member{}
	for _, o := range e.Objects {
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
	version string
	texts   []string
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
	switch {
	case oldPrefix != newPrefix || oldPrefix == "" && was != is:
		c.texts = append(c.texts, fmt.Sprintf("%s is %s now, and was %s: %s: restore its type, or add another member and leave this one; %s",
			path, c.show(is), c.show(was), breaks, c.version))
	case oldPrefix == "*":
		c.compare(path, oldElem, newElem)
	case oldPrefix != "":
		c.compare(path+"[]", oldElem, newElem)
	}
}

// show names a type for a message.
func (c *comparison) show(typ string) string {
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

// members compares two objects. Like encoding/json, it finds a member whose
// name differs in case.
func (c *comparison) members(path string, was, is []model.Member) {
	for _, old := range was {
		at := path + "." + old.Name
		m, ok := find(is, old.Name)
		if !ok {
			c.texts = append(c.texts, fmt.Sprintf("%s is gone from the result: %s: keep the member; if it was renamed, keep its name with the tag `json:%q`; %s",
				at, loses, old.Name, accept))
			continue
		}
		c.compare(at, old.Type, m.Type)
	}
}

func find(list []model.Member, name string) (model.Member, bool) {
	for _, m := range list {
		if m.Name == name {
			return m, true
		}
	}
	for _, m := range list {
		if strings.EqualFold(m.Name, name) {
			return m, true
		}
	}
	return model.Member{}, false
}
