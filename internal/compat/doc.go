// Package compat holds no code: its tests keep the generator and the runtime,
// which never import each other, agreed on what is stored.
package compat
