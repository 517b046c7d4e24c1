package main

import (
	"os"
	"strings"
	"testing"
)

func TestThreadsThatSleepLeaveTheProcessorAlone(t *testing.T) {
	slack, err := os.ReadFile("/proc/self/timerslack_ns")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(slack)); got == "50000" {
		t.Errorf("the timer slack is the kernel's, %s ns", got)
	}
}
