package main

import "runtime/debug"

const module = "github.com/idemgen/idem"

// version is what -version prints. Run by "go tool", the command is built in
// the user's module, of which this one is a dependency.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "idemgen, version unknown"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	version := "(devel)"
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != module {
			continue
		}
		if m.Version != "" {
			version = m.Version
		}
		if m.Replace != nil {
			version += " replaced by " + m.Replace.Path
		}
	}
	return "idemgen " + version + " " + info.GoVersion
}
