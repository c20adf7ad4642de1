package generator

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/generator/internal/load"
	"github.com/idemgen/idem/generator/internal/lock"
	"github.com/idemgen/idem/generator/internal/model"
)

// A module has a lock file in its root.
type module struct {
	root     string
	path     string            // import path of the root
	packages map[string]string // folders of the packages of the run, by import path
	entries  []lock.Entry      // of the packages without mistakes
}

// modulesOf groups packages by their module: a package belongs to the nearest
// go.mod above it. One outside of every module has no lock file.
func modulesOf(places []load.Place) []*module {
	var modules []*module
	roots := map[string]*module{}
	for _, p := range places {
		root := moduleRoot(p.Dir)
		if root == "" {
			continue
		}
		m := roots[root]
		if m == nil {
			m = &module{root: root, path: p.Path, packages: map[string]string{}}
			if below := Relative(root, p.Dir); below != "." {
				m.path = strings.TrimSuffix(p.Path, "/"+filepath.ToSlash(below))
			}
			roots[root] = m
			modules = append(modules, m)
		}
		m.packages[p.Path] = p.Dir
	}
	return modules
}

func moduleRoot(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// operations notes the operations of a package.
func operations(modules []*module, pkg string, files []model.File) {
	for _, m := range modules {
		if _, ok := m.packages[pkg]; ok {
			m.entries = append(m.entries, lock.Entries(files)...)
		}
	}
}

// deleted reports whether a package that was in the module is no more, and the
// run would have found it.
func (m *module) deleted(pkg string, o Options) bool {
	dir, ok := m.folder(pkg)
	switch {
	case !ok: // the module had another path
		dir, pkg = m.root, m.path
	case hasGo(dir):
		return false
	}
	for _, pattern := range o.Packages {
		prefix, wild := strings.CutSuffix(pattern, "...")
		switch {
		case !wild:
		case strings.HasPrefix(prefix, ".") || filepath.IsAbs(prefix) || prefix == "":
			if !filepath.IsAbs(prefix) {
				prefix = filepath.Join(o.Dir, prefix)
			}
			if rel, err := filepath.Rel(prefix, dir); err == nil && filepath.IsLocal(rel) {
				return true
			}
		case strings.HasPrefix(pkg+"/", prefix):
			return true
		}
	}
	return false
}

// folder is where a package of the module belongs.
func (m *module) folder(pkg string) (dir string, ok bool) {
	below, ok := strings.CutPrefix(pkg+"/", m.path+"/")
	return filepath.Join(m.root, filepath.FromSlash(below)), ok
}
