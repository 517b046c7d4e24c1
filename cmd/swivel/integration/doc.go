// Package integration holds the tests that run the built swivel as its users
// do: as a process of its own, between real clients (those of the README's
// table, and those of docs/recipes.md) and real upstream proxies
// (squid, tinyproxy, microsocks, dante, stunnel). There is no code here but tests.
//
// Everything is on loopback, on ports that the system gave. Every upstream
// listens on and leaves from an address of its own in 127.0.0.0/8, so that the
// origin sees by the source address which one carried a request. Linux owns
// that whole network without any set-up.
//
// A program that is missing fails the test that needs it, with the line that
// installs it: a test that did not run must not look like one that passed.
// "make peers" installs them all.
package integration
