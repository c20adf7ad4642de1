package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// kubernetes is the version of the types that the service's interfaces use:
// they are large, and bring a few hundred packages along.
const kubernetes = "v0.37.2"

// subjects are the types that the interfaces are about, one an interface.
var subjects = []string{"Pod", "Service", "ConfigMap", "Secret"}

// service is the package whose interfaces every tool reads.
var service = template.Must(template.New("").Parse(`package service

import (
	"context"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)
{{range .}}
type {{.}}s interface {
	//idem:key object.Namespace, object.Name, string(object.UID)
	//idem:ttl 48h
	Create(ctx context.Context, object *core.{{.}}, options meta.CreateOptions) (*core.{{.}}, error)

	//idem:key object.Namespace, object.Name, object.ResourceVersion
	Update(ctx context.Context, object *core.{{.}}, options meta.UpdateOptions) (*core.{{.}}, error)

	//idem:key namespace, name
	Delete(ctx context.Context, namespace, name string, options meta.DeleteOptions) error

	Get(ctx context.Context, namespace, name string, options meta.GetOptions) (*core.{{.}}, error)
	List(ctx context.Context, options meta.ListOptions) (*core.{{.}}List, error)
}
{{end}}`))

// plain is one of the packages without directives, as most of a module is, and
// plainTest its test.
const (
	plainPackages = 20

	plain = `package plain%d

import "net/http"

func Handler(next http.Handler) http.Handler { return next }
`
	plainTest = `package plain%d

import "testing"

func TestHandler(t *testing.T) {
	if Handler(nil) != nil {
		t.Error("a handler out of nothing")
	}
}
`
)

// writeModule makes dir a module with the service in it, and warms the caches
// of the go command for it.
func writeModule(dir, project string) error {
	const module = "github.com/idemgen/idem"
	var source bytes.Buffer
	if err := service.Execute(&source, subjects); err != nil {
		return err
	}
	files := map[string]string{
		"go.mod": fmt.Sprintf("module example.com/service\n\ngo 1.26\n\nrequire (\n\t%s v0.0.0\n\tk8s.io/api %s\n\tk8s.io/apimachinery %s\n)\n\nreplace %s => %s\n",
			module, kubernetes, kubernetes, module, project),
		"service/service.go": source.String(),
	}
	for i := range plainPackages {
		files[fmt.Sprintf("plain%d/plain.go", i)] = fmt.Sprintf(plain, i)
		files[fmt.Sprintf("plain%d/plain_test.go", i)] = fmt.Sprintf(plainTest, i)
	}
	for name, text := range files {
		if err := write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return command(dir, nil, "go", "build", "./...")
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// command runs a command in dir, and tells what it said if it fails.
func command(dir string, env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod"), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return nil
}
