package temp

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReclaim(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := reclaimBelow(root).Tell(Reclaim{}), "none of MGLRU, DAMON, zswap, memory.high is on; what the kernel took back is not shown"; got != want {
		t.Errorf("empty machine: %q", got)
	}
	put("sys/kernel/mm/lru_gen/enabled", "0x0007\n")
	put("sys/kernel/mm/lru_gen/min_ttl_ms", "0\n")
	put("sys/module/damon_reclaim/parameters/enabled", "Y\n")
	put("sys/module/damon_lru_sort/parameters/enabled", "N\n")
	put("sys/module/zswap/parameters/enabled", "Y\n")
	put("proc/self/cgroup", "4:memory:/a/b\n0::/user/one\n")
	put("sys/fs/cgroup/user/memory.high", "1073741824\n")
	put("sys/fs/cgroup/user/one/memory.high", "max\n")
	put("sys/fs/cgroup/memory/a/memory.soft_limit_in_bytes", "9223372036854771712\n")
	put("proc/vmstat", "pgsteal_kswapd 5\npgsteal_proactive 7\nodd\n")
	before := reclaimBelow(root)
	want := "multi-generational LRU 0x0007, min_ttl_ms 0, damon_reclaim, zswap (shrinker unknown), memory.high 1024 MB; "
	if got := before.Tell(before); got != want+"nothing was taken back during the run" {
		t.Errorf("%q", got)
	}
	put("proc/vmstat", "pgsteal_kswapd 5\npgsteal_proactive 107\ndrop_pagecache 2\n")
	if got := reclaimBelow(root).Tell(before); got != want+"taken back during the run: 100 pages by proactive reclaim (memory.reclaim), 2 times by drop_caches" {
		t.Errorf("%q", got)
	}
}

func TestGroupFiles(t *testing.T) {
	got := groupFiles("12:cpu:/x\n4:memory,hugetlb:/a/b\n0::/c\n", "two", "one")
	want := []string{"sys/fs/cgroup/memory/a/b/one", "sys/fs/cgroup/memory/a/one", "sys/fs/cgroup/memory/one", "sys/fs/cgroup/c/two", "sys/fs/cgroup/two"}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}
