// Package rounds compares proxies under the same loads. In every round each proxy
// is started anew; the load then goes from one to the next and round again in
// small slices, so that whatever else the machine does meanwhile it does to all of
// them. What counts are ratios within a round, and their median over the rounds.
package rounds

import (
	"context"
	"fmt"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/peer"
)

// Workload is a kind of load and what is measured under it.
type Workload struct {
	Name    string // as flags say it
	Title   string // with the amounts
	Columns []Column
	run     func(ctx context.Context, subjects []*subject) error
	without string // a kind that it says nothing about
	asOther bool   // it depends on who runs the proxy, so swivel is run as another user too
	room    int    // how many clients a proxy has to bear at once
}

// Column is one figure of a workload. The first one is a cost, and what ratios
// are of.
type Column struct {
	Title  string
	Digits int // behind the point
}

// Amounts say how much of each load there is, in one round and for each proxy.
type Amounts struct {
	Tunnels int // one after the other
	Plain   int // requests
	Bulk    int // MiB
	Idle    int // tunnels at once
}

const (
	// turns is how often the load goes round in a round.
	turns = 20
	// bulkTurns are fewer: a transfer takes a while until it is at full speed.
	bulkTurns = 4
	// clients is how many ask at once.
	clients = 32
	// many is how many transfers there are at once: more than the 64 pipes of
	// 1 MiB that a user without privileges gets (pipe-user-pages-soft, pipe(7)),
	// which is what splicing them takes.
	many = 100
)

// Workloads are all there are.
func Workloads(a Amounts) []Workload {
	perRequest := []Column{{"CPU µs/op", 1}, {"ops/s", 0}, {"p50 ms", 2}, {"p99 ms", 2}, {"failed", 0}}
	perGiB := []Column{{"CPU s/GiB", 3}, {"MiB/s", 0}}
	return []Workload{
		{Name: "tunnel", Columns: perRequest, without: peer.HAProxyHTTP, room: 10 * clients,
			Title: fmt.Sprintf("new tunnel per operation: CONNECT, 1 KiB, close; %d operations, %d at a time", a.Tunnels, clients),
			run:   requests(a.Tunnels, func(_ context.Context, c *load.Client) error { return c.Tunnel() })},
		{Name: "plain", Columns: perRequest, room: 10 * clients,
			Title: fmt.Sprintf("plain http, kept alive: absolute-form GET of 1 KiB; %d requests, %d clients", a.Plain, clients),
			run:   requests(a.Plain, func(_ context.Context, c *load.Client) error { return c.PlainAgain() })},
		{Name: "bulk", Columns: perGiB, without: peer.HAProxyHTTP, asOther: true, room: 10 * clients,
			Title: fmt.Sprintf("bulk: one tunnel at a time; %d MiB in each", perTransfer(a.Bulk, 1)),
			run:   transfers(a.Bulk, 1)},
		{Name: "bulk-many", Columns: perGiB, without: peer.HAProxyHTTP, asOther: true, room: 10 * many,
			Title: fmt.Sprintf("bulk: %d tunnels at a time; %d MiB in each", many, perTransfer(a.Bulk, many)),
			run:   transfers(a.Bulk, many)},
		{Name: "idle", Columns: []Column{{"KiB/tunnel", 1}, {"fds/tunnel", 2}, {"tunnels/s", 0}}, without: peer.HAProxyHTTP, room: a.Idle + 100,
			Title: fmt.Sprintf("idle: %d tunnels, used once and left open", a.Idle),
			run:   idle(a.Idle)},
	}
}
