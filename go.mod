module github.com/idemgen/idem

go 1.26

require github.com/dave/jennifer v1.7.1

require github.com/rogpeppe/go-internal v1.16.0
