// Package pebbleidx is the index on an embedded LSM engine.
package pebbleidx
