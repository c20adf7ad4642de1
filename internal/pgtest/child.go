package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// startTimeout is far above what a start takes, recovery after a crash
// included.
const startTimeout = 60 * time.Second

// A child is a server process.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // set before done is closed
	log  *tail
}

// startChild runs a server in dir and returns when its log says ready.
func startChild(dir, ready, program string, args ...string) (*child, error) {
	attr, err := account(dir)
	if err != nil {
		return nil, err
	}
	endWithParent(attr)
	c := &child{
		cmd:  exec.Command(program, args...),
		done: make(chan struct{}),
		log:  &tail{ready: ready, seen: make(chan struct{})},
	}
	c.cmd.Dir = dir
	c.cmd.SysProcAttr = attr
	c.cmd.Env = append(os.Environ(), "LC_ALL=C", "LC_MESSAGES=C")
	output, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go c.run(started, output)
	if err := <-started; err != nil {
		return nil, err
	}
	select {
	case <-c.log.seen:
		return c, nil
	case <-c.done:
		return nil, fmt.Errorf("pgtest: %s ended at its start: %w\n%s", program, c.err, c.log)
	case <-time.After(startTimeout):
		_ = c.stop(os.Kill)
		return nil, fmt.Errorf("pgtest: %s is not ready after %v\n%s", program, startTimeout, c.log)
	}
}

// run starts the process, follows its log and waits for its end, all on one
// thread: the process is told to end when the thread that started it does.
func (c *child) run(started chan<- error, output io.Reader) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	c.log.follow(output)
	c.err = c.cmd.Wait()
	close(c.done)
}

// stop sends the signal and waits for the end.
func (c *child) stop(signal os.Signal) error {
	if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.done
	return nil
}

// A tail keeps a log's last lines and notices the one that says ready.
type tail struct {
	ready string
	seen  chan struct{}

	mu    sync.Mutex
	lines []string
}

const tailLines = 50

func (t *tail) follow(r io.Reader) {
	found := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		t.mu.Lock()
		t.lines = append(t.lines, line)
		t.lines = t.lines[max(0, len(t.lines)-tailLines):]
		t.mu.Unlock()
		if !found && strings.Contains(line, t.ready) {
			found = true
			close(t.seen)
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
