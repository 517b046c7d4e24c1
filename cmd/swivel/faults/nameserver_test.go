package faults

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers every question as the first label of the name says.
type nameServer struct {
	socket    net.PacketConn
	questions atomic.Int64
	down      atomic.Bool // servers fail for all names
}

// newNameServer serves at the usual port of a network.
func newNameServer(t *testing.T, in *network) *nameServer {
	t.Helper()
	s := &nameServer{}
	err := onThread(func() (err error) {
		if err = in.enter(); err == nil {
			s.socket, err = net.ListenPacket("udp", "127.0.0.1:53")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serve()
	}()
	t.Cleanup(func() {
		_ = s.socket.Close()
		<-served
	})
	return s
}

func (s *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.socket.ReadFrom(buf)
		if err != nil {
			return
		}
		s.questions.Add(1)
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		for _, reply := range s.answer(m) {
			_, _ = s.socket.WriteTo(reply, from)
		}
	}
}

var loopback = netip.MustParseAddr("127.0.0.1").As4()

// answer is what is sent for a question: nothing, one message, or nonsense.
func (s *nameServer) answer(m dnsmessage.Message) (replies [][]byte) {
	q := m.Questions[0]
	kind, _, _ := strings.Cut(q.Name.String(), ".")
	if s.down.Load() {
		kind = "servfail"
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	address := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: &dnsmessage.AResource{A: loopback}}
	switch kind {
	case "silent":
		return nil
	case "garbage":
		return [][]byte{[]byte("no answer at all"), {0, 1}, {}}
	case "servfail":
		m.RCode = dnsmessage.RCodeServerFailure
	case "nxdomain":
		m.RCode = dnsmessage.RCodeNameError
	case "refused":
		m.RCode = dnsmessage.RCodeRefused
	case "empty":
	case "cut":
		m.Truncated = true // and nobody listens on TCP
	default:
		if q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{address}
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return [][]byte{packed}
}
