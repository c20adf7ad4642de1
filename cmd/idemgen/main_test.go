package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// The test binary is the command, too: scripts execute it as idemgen.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"idemgen": main})
}

// root is the checkout.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestScripts(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(withoutUs))
	t.Cleanup(proxy.Close) // the scripts run in parallel, after this function
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOPROXY", proxy.URL)
			return setup(env)
		},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// withoutUs is a module proxy that knows no version of this module, so that
// "go get" finds the checkout alone. For other modules it sends the go command
// where it would have gone without it.
func withoutUs(w http.ResponseWriter, r *http.Request) {
	first, _, _ := strings.Cut(goEnv("GOPROXY"), ",")
	if strings.HasPrefix(r.URL.Path, "/"+module) || !strings.HasPrefix(first, "http") {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, strings.TrimSuffix(first, "/")+r.URL.Path, http.StatusFound)
}

func goEnv(name string) string {
	value, err := exec.Command("go", "env", name).Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(value))
}

// exits runs a command that must end with the given exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command [argument...]")
	}
	status := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d", status)
	}
}

// setup gives scripts the caches of the go command, and a module in which the
// runtime is this checkout.
func setup(env *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN"} {
		env.Setenv(name, goEnv(name))
	}
	env.Setenv("GOFLAGS", "-mod=mod")
	env.Setenv("ROOT", root)
	return writeModule(env.WorkDir)
}

// writeModule makes dir the module example.com/client.
func writeModule(dir string) error {
	mod := fmt.Sprintf("module example.com/client\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
}
