package simulate

import (
	"flag"
	"time"
)

var full = flag.Bool("simulate.full", false, "simulate everything, and print the tables")

// start is when all simulations begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
