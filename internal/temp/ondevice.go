package temp

import "fmt"

// OnDevice is an error if path is in memory.
func OnDevice(path string) error {
	if m, err := Mount(path); err == nil && m.Memory() {
		return fmt.Errorf("%s is on %s, where fsync is free and nothing gets cold", path, m.Type)
	}
	return nil
}
