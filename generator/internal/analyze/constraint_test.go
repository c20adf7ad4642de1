package analyze

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestConstraintOf(t *testing.T) {
	tests := []struct{ path, source, want string }{
		{"p.go", "package p", ""},
		{"/a_linux/p.go", "package p", ""},
		{"p.go", "//go:build !windows\n\npackage p", "!windows"},
		{"p.go", "// A comment.\n\n//go:build a && (b || c)\n\n// Package p.\npackage p", "a && (b || c)"},
		{"p.go", "package p\n\n//go:build linux\n\nvar x int", ""},
		{"p.go", "//go:build a &&\n\npackage p", ""},
		{"p.go", "/*\n//go:build a\n*/\n\npackage p", ""},
		{"p_linux.go", "package p", "linux"},
		{"p_linux.go", "//go:build a || b\n\npackage p", "(a || b) && linux"},
		{"p_linux.go", "//go:build linux\n\npackage p", "linux"},
		{"p_linux_amd64.go", "//go:build linux\n\npackage p", "linux && amd64"},
		{"p.go", "package p\n\nimport \"C\"", "cgo"},
		{"p_linux.go", "//go:build cgo\n\npackage p\n\nimport \"C\"", "cgo && linux"},
		{"p_linux.go", "package p\n\nimport \"C\"\nimport \"fmt\"", "linux && cgo"},
	}
	for _, tt := range tests {
		file, err := parser.ParseFile(token.NewFileSet(), tt.path, tt.source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := constraintOf(tt.path, file); got != tt.want {
			t.Errorf("constraintOf(%s, %q) = %q, want %q", tt.path, tt.source, got, tt.want)
		}
	}
}

func TestNameTags(t *testing.T) {
	tests := []struct{ name, want string }{
		{"p.go", ""},
		{"linux.go", ""},
		{"amd64.go", ""},
		{"linux_amd64.go", "amd64"},
		{"p_linux.go", "linux"},
		{"p_linux_test.go", "linux"},
		{"p_amd64.go", "amd64"},
		{"p_windows_arm64.go", "windows arm64"},
		{"p_windows_arm64_test.go", "windows arm64"},
		{"p_arm64_windows.go", "windows"},
		{"p_linux_x.go", ""},
		{"p_x_js.go", "js"},
		{"_linux.go", "linux"},
		{"p_unix.go", ""},
		{"p_cgo.go", ""},
		{"p_Linux.go", ""},
		{"p_test.go", ""},
		{"p_linux_idem.go", ""},
		{"p_ios_arm.x.go", ""},
		{"p.linux.go", ""},
	}
	for _, tt := range tests {
		got := ""
		for i, tag := range nameTags(tt.name) {
			if i > 0 {
				got += " "
			}
			got += tag
		}
		if got != tt.want {
			t.Errorf("nameTags(%s) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOutputPath(t *testing.T) {
	for path, want := range map[string]string{
		"/a/p.go":            "/a/p_idem.go",
		"/a/p_test.go":       "/a/p_idem_test.go",
		"/a/p_linux.go":      "/a/p_linux_idem.go",
		"/a/p_linux_test.go": "/a/p_linux_idem_test.go",
		"/a_test.go/p.x.go":  "/a_test.go/p.x_idem.go",
	} {
		if got := outputPath(path); got != want {
			t.Errorf("outputPath(%s) = %s, want %s", path, got, want)
		}
	}
}
