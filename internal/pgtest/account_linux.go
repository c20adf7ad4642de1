package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account gives a server an account of its own where this process is root, as
// which PostgreSQL refuses to run. The account owns dir from then on.
func account(dir string) (*syscall.SysProcAttr, error) {
	attr := new(syscall.SysProcAttr)
	if os.Geteuid() != 0 {
		return attr, nil
	}
	uid, gid, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	return attr, nil
}

func unprivileged() (uid, gid uint32, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		u, uerr := strconv.ParseUint(account.Uid, 10, 32)
		g, gerr := strconv.ParseUint(account.Gid, 10, 32)
		if uerr == nil && gerr == nil {
			return uint32(u), uint32(g), nil
		}
	}
	return 0, 0, fmt.Errorf("pgtest: PostgreSQL does not run as root, and there is no account postgres or nobody")
}

// endWithParent makes a child end when the thread that starts it does.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
