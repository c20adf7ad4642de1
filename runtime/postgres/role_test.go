package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
)

// The grants that the package documentation names are enough.
func TestARoleThatCanOnlyUseTheTable(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	role := pgx.Identifier{b.names.schema + " service"}.Sanitize()
	for _, statement := range []string{
		"CREATE ROLE %s",
		"GRANT USAGE ON SCHEMA " + pgx.Identifier{b.names.schema}.Sanitize() + " TO %s",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON idem_records TO %s",
		"GRANT USAGE ON SEQUENCE idem_records_fence TO %s",
	} {
		b.exec(fmt.Sprintf(statement, role))
	}
	defer b.exec("DROP ROLE " + role)
	defer b.exec("DROP OWNED BY " + role)
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "SET ROLE "+role); err != nil {
		t.Fatal(err)
	}
	service := attach(t, conn, b.direct, b.opts)
	fence := service.win("k")
	service.extend("k", fence, time.Hour)
	service.complete("k", fence, "done")
	service.lookup("k")
	service.release("other", service.win("other"))
	b.pass(1000 * time.Hour)
	if n := service.sweep(10); n != 2 {
		t.Errorf("swept %d", n)
	}
}
