package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a group holds at one instant.
type Usage struct {
	RSS     int64 // bytes; a page that two processes share counts for both
	FDs     int
	Threads int
}

// CPU is the processor time, user and system, that the living processes of the
// group have taken since they started. It comes from their clocks, which count
// nanoseconds where /proc/PID/stat counts hundredths of a second
// (clock_getcpuclockid(3) says how such a clock is named).
func (g *Group) CPU() (time.Duration, error) {
	members, err := g.members()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, pid := range members {
		var t unix.Timespec
		if err := unix.ClockGettime(clock(pid), &t); err != nil {
			return 0, fmt.Errorf("the clock of process %d (%s): %w", pid, g.name, err)
		}
		sum += time.Duration(t.Nano())
	}
	return sum, nil
}

// clock names the clock of a process: the lowest bits say that it is one of a
// process and of the scheduler.
func clock(pid int) int32 { return int32(^pid<<3 | 2) }

// Usage reads what the group holds now.
func (g *Group) Usage() (Usage, error) {
	members, err := g.members()
	if err != nil {
		return Usage{}, err
	}
	var sum Usage
	for _, pid := range members {
		dir := "/proc/" + strconv.Itoa(pid)
		status, err := os.ReadFile(dir + "/status")
		if err != nil {
			return sum, err
		}
		rss, threads, err := parseStatus(string(status))
		if err != nil {
			return sum, fmt.Errorf("%s/status: %w", dir, err)
		}
		fds, err := countEntries(dir + "/fd")
		if err != nil {
			return sum, err
		}
		sum.RSS, sum.Threads, sum.FDs = sum.RSS+rss, sum.Threads+threads, sum.FDs+fds
	}
	return sum, nil
}

// members are the processes of the group that are alive.
func (g *Group) members() ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var members []int
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		if pid, group, err := parseStat(stat); err == nil && group == g.id {
			members = append(members, pid)
		}
	}
	if len(members) == 0 {
		return nil, g.Failure("is gone")
	}
	return members, nil
}

// parseStat reads the ids of a process and its group from /proc/PID/stat; a
// zombie, which uses nothing any more, is an error. The second field is the name
// in brackets, and may hold anything, brackets and blanks too.
func parseStat(stat []byte) (pid, group int, err error) {
	first, _, _ := bytes.Cut(stat, []byte(" "))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 3 || fields[0] == "Z" {
		return 0, 0, fmt.Errorf("no living process in %.40q", stat)
	}
	if pid, err = strconv.Atoi(string(first)); err != nil {
		return 0, 0, err
	}
	group, err = strconv.Atoi(fields[2])
	return pid, group, err
}

// parseStatus reads the resident memory in bytes and the number of threads from
// /proc/PID/status.
func parseStatus(status string) (rss int64, threads int, err error) {
	found := 0
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "VmRSS":
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, 0, err
			}
			rss, found = kib<<10, found+1
		case "Threads":
			if threads, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, 0, err
			}
			found++
		}
	}
	if found != 2 {
		return 0, 0, fmt.Errorf("no VmRSS and Threads in %.80q", status)
	}
	return rss, threads, nil
}

func countEntries(dir string) (int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return len(names), err
}
