// Command swivel is a local HTTP/CONNECT forward proxy that sends every request
// through one healthy upstream proxy of a pool.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}
