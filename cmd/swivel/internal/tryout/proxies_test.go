package tryout

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// relay joins two connections until both are done.
func relay(client net.Conn, in io.Reader, target string) {
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, in)
		_ = server.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	_ = server.Close()
	up.Wait()
}

// httpProxy is an HTTP proxy; with a password it wants one.
func httpProxy(password string) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		r, err := http.ReadRequest(in)
		switch {
		case err != nil || r.Method != http.MethodConnect && r.URL.Host == "":
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		case password != "" && r.Header.Get("Proxy-Authorization") != "Basic "+password:
			_, _ = io.WriteString(conn, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
		case r.Method == http.MethodConnect:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			relay(conn, in, r.Host)
		default:
			var head bytes.Buffer
			host := r.URL.Host
			r.URL.Scheme, r.URL.Host = "", ""
			r.Header.Del("Proxy-Authorization")
			_ = r.Write(&head)
			relay(conn, &head, host)
		}
	}
}

// socks5Proxy wants no password.
func socks5Proxy(conn net.Conn) {
	in := bufio.NewReader(conn)
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil || head[0] != 5 {
		return
	}
	_, _ = io.CopyN(io.Discard, in, int64(head[1]))
	_, _ = conn.Write([]byte{5, 0})
	request := make([]byte, 4)
	if _, err := io.ReadFull(in, request); err != nil {
		return
	}
	length := map[byte]int{1: 4, 4: 16}[request[3]]
	if request[3] == 3 {
		n, _ := in.ReadByte()
		length = int(n)
	}
	address := make([]byte, length+2)
	if _, err := io.ReadFull(in, address); err != nil {
		return
	}
	host := string(address[:length])
	if request[3] != 3 {
		host = net.IP(address[:length]).String()
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	relay(conn, in, net.JoinHostPort(host, fmt.Sprint(binary.BigEndian.Uint16(address[length:]))))
}

// socks4Proxy knows names, too.
func socks4Proxy(conn net.Conn) {
	in := bufio.NewReader(conn)
	head := make([]byte, 8)
	if _, err := io.ReadFull(in, head); err != nil || head[0] != 4 {
		return
	}
	_, _ = in.ReadString(0) // the user
	host := net.IP(head[4:8]).String()
	if head[4] == 0 && head[5] == 0 && head[6] == 0 {
		name, _ := in.ReadString(0)
		host = name[:max(0, len(name)-1)]
	}
	_, _ = conn.Write([]byte{0, 90, 0, 0, 0, 0, 0, 0})
	relay(conn, in, net.JoinHostPort(host, fmt.Sprint(binary.BigEndian.Uint16(head[2:4]))))
}

// silent takes a connection, and says nothing until it is closed.
func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// liar says 200 to everything, and hangs up.
func liar(conn net.Conn) {
	_, _ = http.ReadRequest(bufio.NewReader(conn))
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
}

// overTLS puts TLS in front, with the certificate of httptest. It returns the
// file with the certificate to trust.
func overTLS(t *testing.T, handle func(net.Conn)) (wrapped func(net.Conn), ca string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates}
	return func(conn net.Conn) {
		secure := tls.Server(conn, config)
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		if secure.Handshake() == nil {
			handle(secure)
			_ = secure.CloseWrite()
		} else {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		}
	}, pemFile(t, server.Certificate().Raw)
}

func pemFile(t *testing.T, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pemOf(der), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clearText opens tunnels to a page of its own.
func clearText(conn net.Conn) {
	_, _ = http.ReadRequest(bufio.NewReader(conn))
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	_, _ = io.Copy(io.Discard, conn)
}
