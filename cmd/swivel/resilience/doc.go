// Package resilience holds the test of what clients notice of a pool that is
// partly dead, and of what the dead part costs. There is no code here but tests.
//
// The built swivel runs as a process of its own in front of twenty scripted
// upstream proxies inside the test: sound ones, and one or two of each kind
// that pools are full of. Load comes in at a fixed rate whatever the answers
// do, while proxies die, others recover, the daemon is killed and started
// again, and a target is down. For each of these phases the test prints what
// clients saw and how many attempts were wasted, and holds the figures against
// the promise.
//
// "go test" runs a short form; "make resilience" the long one, with the default
// rests.
package resilience
