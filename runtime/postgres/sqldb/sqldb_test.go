package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/idemgen/idem/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t *testing.T) *DB {
	t.Helper()
	db, err := sql.Open("pgx", pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return New(db)
}

// What a backend sends comes back as it was.
func TestParameters(t *testing.T) {
	const query = `SELECT ($1::text[])[n], ($2::bytea[])[n], ($3::int8[])[n], ($4::int4[])[n], $5::int4
		FROM generate_series(1, 3) AS n`
	texts := []string{`plain`, `"quoted", {braces} and \ `, ``}
	bytes := [][]byte{{0, 255, '\\', '"'}, nil, {}}
	longs, ints := []int64{-1 << 63, 0, 1<<63 - 1}, []int32{-1, 0, 1}
	rows, err := open(t).Query(t.Context(), query, texts, bytes, longs, ints, int32(7))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	i := 0
	for ; rows.Next(); i++ {
		var text string
		var b []byte
		var long int64
		var n, seven int32
		if err := rows.Scan(&text, &b, &long, &n, &seven); err != nil {
			t.Fatal(err)
		}
		if text != texts[i] || string(b) != string(bytes[i]) || (b == nil) != (bytes[i] == nil) || long != longs[i] || n != ints[i] || seven != 7 {
			t.Errorf("row %d: %q %q %d %d %d", i, text, b, long, n, seven)
		}
	}
	if err := rows.Err(); err != nil || i != 3 {
		t.Errorf("%d rows, %v", i, err)
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	rows, err := open(t).Query(t.Context(), "SELECT nonsense")
	if err == nil {
		rows.Close()
	}
	var coded interface{ SQLState() string }
	if !errors.As(err, &coded) || coded.SQLState() != "42703" {
		t.Errorf("err = %v", err)
	}
}

func TestWhatDatabaseSQLDoesNotHave(t *testing.T) {
	rows, err := open(t).Query(context.Background(), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if _, err := rows.Values(); err == nil {
		t.Error("there are values")
	}
	if rows.Conn() != nil || rows.TypeMap() != nil || rows.RawValues() != nil || rows.FieldDescriptions() != nil || rows.CommandTag().String() != "" {
		t.Error("something was made up")
	}
}
