package eventlog

import (
	"io"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// BenchmarkExchange is the line of a plain request that its first proxy served.
func BenchmarkExchange(b *testing.B) {
	log, err := NewBuffered(io.Discard, "json", "info")
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	p := pool.New([]*pool.Spec{{Host: "192.0.2.1", Port: 3128, Weight: 1}}, pool.Options{}, time.Now()).Proxies()[0]
	x := Exchange{
		ID: "0123456789abcdef", Kind: "plain", Client: "127.0.0.1:50000", Method: "GET", Target: "example.test:80", Status: 200,
		Proxy: p, Opened: 1234 * time.Microsecond, Took: 2345 * time.Microsecond, Up: 100, Down: 1024,
		Attempts: []pool.Attempt{{Proxy: p, Signal: pool.Response, Outcome: breaker.Success, Took: 1234 * time.Microsecond}},
	}
	b.ReportAllocs()
	for b.Loop() {
		log.Exchange(x)
	}
}
