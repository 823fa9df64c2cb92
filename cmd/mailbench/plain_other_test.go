//go:build !linux

package main

func becomePlain() {}
