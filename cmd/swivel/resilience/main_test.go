package resilience

import (
	"flag"
	"os"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

var (
	long = flag.Bool("resilience.long", false, "run the long form, with the default rests")
	logs = flag.String("resilience.logs", "", "an existing `folder` to keep the logs of the daemons in")
)

func TestMain(m *testing.M) { os.Exit(swiveltest.Run(m)) }
