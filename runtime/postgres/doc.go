// Package postgres keeps the records of package idem in PostgreSQL 14 or later,
// through pgx: one row a key, in a table that Migrate creates.
package postgres
