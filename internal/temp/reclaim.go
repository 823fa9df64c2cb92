package temp

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Reclaim is what may take pages out of the page cache, or has, while
// nobody is short of memory.
type Reclaim struct {
	Set    []string         // what is switched on, in words
	Counts map[string]int64 // of /proc/vmstat since boot; nil: not shown
}

// reclaimed are the counters of pages that the kernel took back, by who asked
// for it, and of what throws away whole caches.
var reclaimed = []struct{ name, words string }{
	{"pgsteal_kswapd", "pages by kswapd"},
	{"pgsteal_direct", "pages by processes short of memory"},
	{"pgsteal_khugepaged", "pages by khugepaged"},
	{"pgsteal_proactive", "pages by proactive reclaim (memory.reclaim)"},
	{"balloon_inflate", "pages by a balloon"},
	{"damon_reclaimed", "pages by DAMON"},
	{"drop_pagecache", "times by drop_caches"},
}

// ReadReclaim looks what is set on this machine. Where there is no /proc or
// /sys nothing is. Cost: some ten small files.
func ReadReclaim() Reclaim { return reclaimBelow("/") }

func reclaimBelow(root string) Reclaim {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	var r Reclaim
	add := func(format string, args ...any) { r.Set = append(r.Set, fmt.Sprintf(format, args...)) }
	if v := read("sys/kernel/mm/lru_gen/enabled"); v != "" && v != "0x0000" && v != "N" {
		add("multi-generational LRU %s, min_ttl_ms %s", v, orUnknown(read("sys/kernel/mm/lru_gen/min_ttl_ms")))
	}
	for _, module := range []string{"damon_reclaim", "damon_lru_sort"} {
		if read("sys/module/"+module+"/parameters/enabled") == "Y" {
			add("%s", module)
		}
	}
	if n, _ := strconv.Atoi(read("sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds")); n > 0 {
		add("%d DAMON threads", n)
	}
	if read("sys/module/zswap/parameters/enabled") == "Y" {
		add("zswap (shrinker %s)", orUnknown(read("sys/module/zswap/parameters/shrinker_enabled")))
	}
	for _, file := range groupFiles(read("proc/self/cgroup"), "memory.high", "memory.soft_limit_in_bytes") {
		n, err := strconv.ParseInt(read(file), 10, 64)
		if err == nil && n < 1<<62 { // version 1 says "none" with a huge number
			add("%s %d MB", filepath.Base(file), n>>20)
		}
	}
	if v := read("proc/sys/vm/vfs_cache_pressure"); v != "" && v != "100" {
		add("vfs_cache_pressure %s", v)
	}
	if _, err := os.Stat(filepath.Join(root, "sys/bus/virtio/drivers/virtio_balloon")); err == nil {
		add("a balloon driver (the hypervisor may take memory back)")
	}
	for line := range strings.Lines(read("proc/vmstat")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		if r.Counts == nil {
			r.Counts = make(map[string]int64)
		}
		r.Counts[name] = n
	}
	return r
}

// Tell says in one line what is set, and what was taken back since before.
func (r Reclaim) Tell(before Reclaim) string {
	set := "none of MGLRU, DAMON, zswap, memory.high is on"
	if len(r.Set) > 0 {
		set = strings.Join(r.Set, ", ")
	}
	if r.Counts == nil {
		return set + "; what the kernel took back is not shown"
	}
	var took []string
	for _, c := range reclaimed {
		if n := r.Counts[c.name] - before.Counts[c.name]; n > 0 {
			took = append(took, fmt.Sprintf("%d %s", n, c.words))
		}
	}
	if took == nil {
		return set + "; nothing was taken back during the run"
	}
	return set + "; taken back during the run: " + strings.Join(took, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
