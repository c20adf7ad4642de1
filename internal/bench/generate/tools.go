package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A tool is a way to make code of the service's interfaces.
type tool struct {
	name   string
	module string // to install it from, with its version
	pkg    string // of its command

	// prepare writes what the tool needs into the folder of its outputs, and
	// returns the arguments of each command of a run.
	prepare func(out string) ([][]string, error)
}

// rivals make code of interfaces, too: mocks and decorators.
var rivals = []tool{
	{"moq", "github.com/matryer/moq v0.8.1", "github.com/matryer/moq", moq},
	{"mockery", "github.com/vektra/mockery/v3 v3.9.1", "github.com/vektra/mockery/v3", mockery},
	{"gowrap", "github.com/hexdigest/gowrap v1.4.3", "github.com/hexdigest/gowrap/cmd/gowrap", gowrap},
}

func moq(out string) ([][]string, error) {
	args := []string{"-pkg", "mocks", "-out", filepath.Join(out, "moq.go"), "./service"}
	return [][]string{append(args, interfaces()...)}, nil
}

// mockery insists on a folder of the module, into which its file goes.
func mockery(out string) ([][]string, error) {
	config := filepath.Join(out, "mockery.yml")
	text := "all: true\ndir: mocks\nfilename: mockery.go\npkgname: mocks\npackages:\n  example.com/service/service:\n"
	return [][]string{{"--config", config, "--log-level", "error"}}, write(config, text)
}

func gowrap(out string) ([][]string, error) {
	const decorator = `import "context"

type {{.Interface.Name}}Decorator struct{ base {{.Interface.Type}} }
{{range .Interface.Methods}}
func (d {{$.Interface.Name}}Decorator) {{.Declaration}} {
	{{.Pass "d.base."}}
}
{{end}}`
	template := filepath.Join(out, "decorator")
	var runs [][]string
	for _, name := range interfaces() {
		runs = append(runs, []string{"gen", "-g", "-p", "./service", "-i", name, "-t", template, "-o", filepath.Join(out, strings.ToLower(name)+".go")})
	}
	return runs, write(template, decorator)
}

func interfaces() []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s+"s")
	}
	return names
}

// install builds a tool into bin, in a module of its own.
func (t tool) install(dir, bin string) error {
	if err := write(filepath.Join(dir, "go.mod"), fmt.Sprintf("module install\n\ngo 1.26\n\nrequire %s\n", t.module)); err != nil {
		return err
	}
	return command(dir, []string{"GOBIN=" + bin}, "go", "install", t.pkg)
}
