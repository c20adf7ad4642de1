//go:build !linux

package pgtest

import "syscall"

// account is for systems where servers run as the caller's account.
func account(string) (*syscall.SysProcAttr, error) { return new(syscall.SysProcAttr), nil }

// endWithParent does nothing: only Linux has such a thing. A server outlives a
// process that was killed.
func endWithParent(*syscall.SysProcAttr) {}
