// Package simulate holds the simulation of fleets of up to a thousand instances
// and a hundred thousand proxies. There is no code here but tests.
//
// What decides is real: breakers, and the policy of package fleet. Time, the
// network, the traffic and the hub are models: the hub merges by the same rules
// as the script at the server, and counts what a server would have to do. A
// breaker of an instance comes to be when the instance first uses the proxy, or
// hears of it.
//
// "go test" runs a short form; "make simulate" all of it, and prints the tables of
// docs/simulation.md. Nothing depends on chance, nor on the machine, except what a call
// takes of a real server, which is measured last.
package simulate
