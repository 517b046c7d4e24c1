package resilience

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// clientPatience is how long a client waits for everything.
const clientPatience = 40 * time.Second

// visitTarget makes one exchange as clients do: a new connection, CONNECT, and a
// request inside the tunnel. code is the daemon's own reason when it refused.
func visitTarget(proxy, target string) (code string, err error) {
	c, err := net.DialTimeout("tcp", proxy, clientPatience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(clientPatience))
	in := bufio.NewReader(c)
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return "", fmt.Errorf("reply to CONNECT: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return resp.Header.Get("X-Swivel-Error"), fmt.Errorf("CONNECT: %s", resp.Status)
	}
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", target); err != nil {
		return "", fmt.Errorf("in the tunnel: %w", err)
	}
	return "", readGreeting(in, target)
}

func readGreeting(in *bufio.Reader, target string) error {
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return fmt.Errorf("reply in the tunnel: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("body in the tunnel: %w", err)
	}
	if string(body) != greeting(target) {
		return fmt.Errorf("the target %s was asked and %q answered", target, body)
	}
	return nil
}
