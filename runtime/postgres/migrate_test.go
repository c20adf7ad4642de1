package postgres

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
)

func TestMigrateByTenAtOnce(t *testing.T) {
	schema := pgtest.Schema(t)
	var wg sync.WaitGroup
	for i := range 10 {
		pool := openPool(t, pgtest.DSN(t), mode(modes[i%len(modes)]))
		wg.Go(func() {
			if err := Migrate(t.Context(), pool, WithSchema(schema)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f := attach(t, openPool(t, pgtest.DSN(t)), openPool(t, pgtest.DSN(t)), []Option{WithSchema(schema)})
	if n := f.number("SELECT count(*) FROM idem_records_schema"); n != int64(len(ups)) {
		t.Errorf("%d migrations are recorded", n)
	}
}

func TestMigrateKeepsRecords(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	fence := b.win("k")
	if err := Migrate(t.Context(), b.direct, b.opts...); err != nil {
		t.Fatal(err)
	}
	if !b.complete("k", fence, "kept") {
		t.Error("the record is gone")
	}
}

func TestMigrateRefusesANewerSchema(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	b.exec("INSERT INTO idem_records_schema (version) VALUES (1000)")
	err := Migrate(t.Context(), b.direct, b.opts...)
	if !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("err = %v", err)
	}
}

func TestMigrateReportsWhatTheServerSays(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	b.exec("DROP TABLE idem_records_schema") // the table is there, its version is not
	err := Migrate(t.Context(), b.direct, b.opts...)
	if err == nil || errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("err = %v", err)
	}
}

// Names that are not what they seem: quoted, they are names like others.
func TestAnyNameWillDo(t *testing.T) {
	for _, table := range []string{
		`Orders "idem"`, `a'b; DROP TABLE x; --`, `select`, `$idem$`, `ünïcode`, `back\slash`, strings.Repeat("x", maxTableName),
	} {
		t.Run(table, func(t *testing.T) {
			schema := `It's a "schema" ` + pgtest.Schema(t)
			opts := []Option{WithSchema(schema), WithTable(table)}
			pool := openPool(t, pgtest.DSN(t))
			if err := Migrate(t.Context(), pool, opts...); err != nil { // makes the schema
				t.Fatal(err)
			}
			b := attach(t, pool, pool, opts)
			defer b.exec("DROP SCHEMA " + pgx.Identifier{schema}.Sanitize() + " CASCADE")
			fence := b.win("k")
			if !b.complete("k", fence, "done") {
				t.Error("not held")
			}
			b.pass(100 * 24 * 3600 * 1e9)
			if n := b.sweep(1); n != 1 {
				t.Errorf("swept %d", n)
			}
		})
	}
}

func TestWrongOptionsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"empty schema":   func() { WithSchema("") },
		"zero byte":      func() { WithSchema("a\x00") },
		"empty table":    func() { WithTable("") },
		"long table":     func() { WithTable(strings.Repeat("x", maxTableName+1)) },
		"no time at all": func() { WithTimeout(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// The files as a tool runs them: all statements of a file, up, down, and up
// again.
func TestMigrationsOfTools(t *testing.T) {
	dsn := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(text string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	up, down := file(t, "0001_records.up.sql"), file(t, "0001_records.down.sql")
	run(up)
	if err := Migrate(t.Context(), conn); err != nil {
		t.Errorf("Migrate after a tool: %v", err)
	}
	run(down)
	if err := Migrate(t.Context(), conn); err != nil {
		t.Errorf("Migrate after a tool took it down: %v", err)
	}
	run(down)
	run(up)
}

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := Migrations.ReadFile("migrations/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every migration is known to Migrate, has a way back, and is the same for
// goose.
func TestMigrationsAreComplete(t *testing.T) {
	found, err := fs.Glob(Migrations, "migrations/*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(ups) {
		t.Errorf("files %v, migrations %v", found, ups)
	}
	for _, name := range ups {
		down := strings.Replace(name, ".up.", ".down.", 1)
		goose := "goose/" + strings.Replace(name, ".up.", ".", 1)
		want := "-- +goose Up\n" + file(t, name) + "\n-- +goose Down\n" + file(t, down)
		if file(t, goose) != want {
			t.Errorf("%s differs from %s and %s", goose, name, down)
		}
	}
}
