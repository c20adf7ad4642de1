package load

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"os"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

// exports imports listed packages from their export data. One that has
// none, because its code does not compile before the wrappers that it uses are
// there, is type-checked from source.
type exports struct {
	cfg  Config
	fset *token.FileSet

	// known are the packages by path. What is imported in the tests of a
	// package can be another variant than elsewhere, so that these tests have
	// a map of their own.
	known map[string]*types.Package
}

// forTests returns one whose imports do not count elsewhere.
func (im *exports) forTests() *exports {
	return &exports{im.cfg, im.fset, map[string]*types.Package{}}
}

// of returns what resolves the imports of a package.
func (im *exports) of(p *packages.Package) types.Importer {
	return importFunc(func(path string) (*types.Package, error) {
		if q := p.Imports[path]; q != nil {
			return im.load(q)
		}
		return nil, fmt.Errorf("%s is not imported by %s", path, p.ID)
	})
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

func (im *exports) load(p *packages.Package) (*types.Package, error) {
	if p.PkgPath == "unsafe" {
		return types.Unsafe, nil
	}
	if t := im.known[p.PkgPath]; t != nil && t.Complete() {
		return t, nil
	}
	if p.ExportFile == "" {
		return im.fromSource(p)
	}
	f, err := os.Open(p.ExportFile)
	if err != nil {
		return nil, err
	}
	t, err := im.read(f, p.PkgPath)
	return t, errors.Join(err, f.Close())
}

func (im *exports) read(f *os.File, path string) (*types.Package, error) {
	r, err := gcexportdata.NewReader(f) //nolint:staticcheck // up to Go 1.27 the go command hands out archives, which Read alone refuses
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(r, im.fset, im.known, path)
}

func (im *exports) fromSource(p *packages.Package) (*types.Package, error) {
	if err := im.check(p); err != nil {
		return nil, err
	}
	im.known[p.PkgPath] = p.Types
	return p.Types, nil
}

// check type-checks a listed package, as far as that goes, and notes in it what
// is wrong.
func (im *exports) check(p *packages.Package) error {
	p.Fset = im.fset
	for _, name := range p.CompiledGoFiles {
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := im.cfg.parse(im.fset, name, source)
		if list, ok := errors.AsType[scanner.ErrorList](err); ok {
			for _, e := range list {
				p.Errors = append(p.Errors, packages.Error{Pos: e.Pos.String(), Msg: e.Msg, Kind: packages.ParseError})
			}
		} else if err != nil {
			return err
		}
		p.Syntax = append(p.Syntax, file)
	}
	config := types.Config{
		Importer: im.of(p),
		Sizes:    p.TypesSizes,
		Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok {
				p.TypeErrors = append(p.TypeErrors, e)
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	p.Types, _ = config.Check(p.PkgPath, im.fset, p.Syntax, nil) // the errors are in TypeErrors
	return nil
}
