package generator

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Commit makes the changes: this is the one place that writes to the disk.
//
// Every new content is first written in full beside the file that it will
// replace, and only then are all of them renamed: a failure up to there leaves
// every old file as it was. A file that is not ours, or that may not be
// written, is an error.
func Commit(changes []Change) (err error) {
	temporary := make([]string, len(changes))
	defer func() {
		for _, path := range temporary {
			if path != "" {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for i, c := range changes {
		if err := c.permitted(); err != nil {
			return err
		}
		if c.State != Orphaned {
			if temporary[i], err = c.stage(); err != nil {
				return err
			}
		}
	}
	for i, c := range changes {
		if c.State == Orphaned {
			if err := os.Remove(c.Path); err != nil {
				return err
			}
			continue
		}
		if err := os.Rename(temporary[i], c.Path); err != nil {
			return err
		}
		temporary[i] = ""
	}
	return nil
}

// permitted reports why the file must be left alone, if it must.
func (c Change) permitted() error {
	switch {
	case c.State == Missing:
		return nil
	case !isOurs(c.Old):
		return fmt.Errorf("%s was not written by idemgen and is left as it is", c.Path)
	case c.Mode&0o200 == 0:
		return &fs.PathError{Op: "write", Path: c.Path, Err: fs.ErrPermission}
	}
	return nil
}

// stage writes the new content to a temporary file in the same directory,
// under a name that no Go tool looks at.
func (c Change) stage() (path string, err error) {
	dir, base := filepath.Split(c.Path)
	path = filepath.Join(dir, "."+base+"."+rand.Text())
	// Not os.CreateTemp, so that the umask decides who may read a new file.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.New)
	if err == nil && c.Mode != 0 {
		err = f.Chmod(c.Mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}
