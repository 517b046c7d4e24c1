package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childrenOf returns /proc/PID/stat of each child of the process.
func childrenOf(t *testing.T, parent int) (kids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid ..., and the name may hold blanks and brackets.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			kids = append(kids, string(text))
		}
	}
	return kids
}
