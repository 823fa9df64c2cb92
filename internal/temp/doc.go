// Package temp makes and proves the temperature of files: what of them is in
// the page cache before an operation is timed, and what the operation then
// had to fetch from the device.
//
// A temperature is never assumed. Each of the three states of the mail has a
// way to be made and a proof:
//
//	warm    every file is read; proof: of up to 1,000 files drawn at random
//	        99.9% of the pages are resident, before and after the sample, and
//	        the sample itself reads almost nothing from the device
//	nodata  one syncfs, then fadvise(DONTNEED) on every file: the data is
//	        gone, names and inodes stay; proof: of up to 1,000 files drawn at
//	        random no more than 0.1% of the pages are resident
//	cold    everything the kernel caches is dropped (drop_caches, which hurts
//	        everybody on the machine, only on request), or the files lie in a
//	        private file system that is mounted anew (Image); proof afterwards,
//	        because opening a file to ask already reads its inode: the device
//	        must have delivered at least what the operation had to read
//
// Residency is asked with cachestat(2) (Linux 6.5), or mincore(2) where that
// is missing: mincore maps the file and costs about three times as much. A
// file system without a device below it (tmpfs, ramfs) cannot get cold:
// fadvise succeeds there and evicts nothing, so such a place is refused.
package temp
