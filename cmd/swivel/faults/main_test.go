package faults

import (
	"flag"
	"os"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

var long = flag.Bool("faults.long", false, "run the long form")

// either chooses between the forms.
func either[T any](short, longer T) T {
	if *long {
		return longer
	}
	return short
}

// pass lets time go by, of which something else makes use.
func pass(d time.Duration) { <-time.After(d) }

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the time goes by in waiting: for rests, locks and time-outs.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := swiveltest.Run(m)
	if *long || testing.Verbose() || code != 0 {
		figures.print(os.Stdout)
	}
	os.Exit(code)
}
