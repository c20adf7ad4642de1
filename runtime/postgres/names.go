package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// DefaultTable is the name of the table unless WithTable sets another.
const DefaultTable = "idem_records"

// maxTableName leaves room for the suffixes below within the 63 bytes that
// PostgreSQL keeps of a name.
const maxTableName = 50

// names are the database objects of one backend.
type names struct {
	schema string // empty: found through the search path
	table  string
}

// written finds the names as the migrations write them.
var written = regexp.MustCompile(`\b` + DefaultTable + `(_fence|_expiry|_schema)?\b`)

// render returns the statement for these names in place of the default ones.
func (n names) render(statement string) string {
	return written.ReplaceAllStringFunc(statement, func(name string) string {
		suffix := strings.TrimPrefix(name, DefaultTable)
		if suffix == "_expiry" { // an index is in the schema of its table
			return pgx.Identifier{n.table + suffix}.Sanitize()
		}
		return n.qualified(suffix)
	})
}

func (n names) qualified(suffix string) string {
	if n.schema == "" {
		return pgx.Identifier{n.table + suffix}.Sanitize()
	}
	return pgx.Identifier{n.schema, n.table + suffix}.Sanitize()
}

// channel returns the name under which changes of the table are notified. Two
// tables may share one if the search path tells them apart: their waiters then
// wake now and then for nothing.
func (n names) channel() string {
	name := n.table
	if n.schema != "" {
		name = n.schema + "." + n.table
	}
	if len(name) < 64 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return DefaultTable + "_" + hex.EncodeToString(sum[:16])
}

// literal quotes a string constant, whatever standard_conforming_strings says.
func literal(s string) string {
	return "E'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `'`, `''`) + "'"
}
