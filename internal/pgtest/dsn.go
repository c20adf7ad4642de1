package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// Through returns dsn with the server's address replaced by addr, that of a
// proxy or a pooler in front of it.
func Through(dsn, addr string) (string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", err
	}
	return compose(c, addr, c.Database), nil
}

// withDatabase returns dsn with another database.
func withDatabase(dsn, database string) (string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", err
	}
	return compose(c, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), database), nil
}

// compose writes a connection string without TLS, which a proxy could not read.
func compose(c *pgconn.Config, addr, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(c.User, c.Password), Host: addr, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// address returns the host and port of dsn's server.
func address(dsn string) (string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", err
	}
	if network, _ := pgconn.NetworkAddress(c.Host, c.Port); network != "tcp" {
		return "", fmt.Errorf("pgtest: the server of %s must be reached by TCP", EnvDSN)
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), nil
}
