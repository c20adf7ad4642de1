// Package pgtest starts PostgreSQL servers for tests, benchmarks and examples
// and puts faults between them and their clients.
//
// A server is started from the binaries that the machine has (on Debian:
// apt-get install postgresql) in a temporary directory, listens on a free
// loopback port and on a Unix socket, and ends with the process that started
// it, however that ends. Where the environment variable IDEM_TEST_DSN holds a
// connection string, tests that need no restart use the server that it names.
//
// Missing binaries fail a test with the command that installs them. They never
// skip it.
package pgtest
