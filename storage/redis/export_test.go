package redis

import "time"

// OpenPatient is Open for tests of what a server answers, on machines on which
// that may take its time.
func OpenPatient(address string) (*Client, error) { return open(address, time.Minute) }
