// Package faults holds the tests of what the machine, the network and the
// neighbours do to a running swivel. There is no code here but tests.
//
// Each test starts the built swivel as a process of its own, in front of scripted
// upstream proxies inside the test, does one kind of harm to it (kill -9, a full
// disk, a peer that vanishes, ...), and then looks at what clients, the log, the
// database, the metrics and /proc say. In the end all figures are printed in one
// table, with what could not be run on this machine and why.
//
// "go test" runs a short form; "make faults" the long one. Some of it wants root
// on Linux; nothing outside the test's own folders, processes and namespaces is
// changed.
package faults
