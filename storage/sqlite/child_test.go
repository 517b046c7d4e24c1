package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

// Some faults need a second process: one that is killed, or that is not root.
// The test binary starts itself with one of these tasks.
const (
	taskHold       = "hold"       // open, say so, wait to be killed
	taskTransition = "transition" // store a record through a journal, say so, go on writing
	taskOpen       = "open"       // open and print the error
)

const taskVariable, pathVariable, idVariable = "SWIVEL_TEST_TASK", "SWIVEL_TEST_PATH", "SWIVEL_TEST_ID"

func TestMain(m *testing.M) {
	if task := os.Getenv(taskVariable); task != "" {
		os.Exit(runTask(task, os.Getenv(pathVariable), os.Getenv(idVariable)))
	}
	os.Exit(m.Run())
}

func runTask(task, path, id string) int {
	store, _, err := Open(context.Background(), path, time.Now)
	if task == taskOpen || err != nil {
		fmt.Println(err)
		return 0
	}
	if task == taskTransition {
		journal := storage.NewJournal(store, storage.Options{})
		journal.Put(storetest.Record(id), true)
		untilStored(journal)
		fmt.Println("ready")
		for i := 0; ; i = (i + 1) % 100 { // so that the kill hits a write
			journal.Put(storetest.Record("churn"+strconv.Itoa(i)), true)
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent, should it forget us
	return 0
}

func untilStored(journal *storage.Journal) {
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for journal.Stats().Written == 0 {
		<-poll.C
	}
}

// child starts the test binary with a task and returns what it says first.
func child(t *testing.T, binary, task, path, id string, edit func(*exec.Cmd)) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), taskVariable+"="+task, pathVariable+"="+path, idVariable+"="+id)
	cmd.Stderr = os.Stderr
	if edit != nil {
		edit(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as we live
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("child said nothing: %v", err)
	}
	return cmd, line
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
}
