// Package repo holds no code: its tests keep what must be true of the whole
// repository, such as which package may import which, how long a file may
// get, and that every Go snippet of the documentation compiles.
package repo
