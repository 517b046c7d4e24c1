package pool

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readAll reads a list that is held in memory while it is read; tooLong is the
// error of one beyond the limit.
func readAll(r io.Reader, limit int64, tooLong error) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the proxy list: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, tooLong
	}
	return text, nil
}

// maxHeld bounds a list that has to be read as a whole.
const maxHeld = 256 << 20

var errHeld = errors.New("a list in JSON, base64 or UTF-16 is limited to 256 MiB")

// isBase64 says whether a list that begins so is in base64, as subscriptions are:
// every list line has a colon or a blank somewhere.
func isBase64(start []byte) bool {
	return len(bytes.TrimSpace(start)) > 0 && bytes.IndexFunc(start, func(c rune) bool { return !isBase64Byte(c) && c != '\r' && c != '\n' }) < 0
}

func isBase64Byte(c rune) bool {
	return c < utf8.RuneSelf && (isLetter(byte(c)) || isDigit(byte(c)) || strings.ContainsRune("+/-_=", c))
}

// readSubscription reads a list in base64. What only looked like it is read as
// lines, none of which is a proxy then.
func (l *List) readSubscription(r io.Reader, parser *lineParser) error {
	text, err := readAll(r, maxHeld, errHeld)
	if err != nil {
		return err
	}
	if inside, ok := decodeBase64(string(text)); ok {
		parser.shared = true
		return l.readText(bufio.NewReaderSize(strings.NewReader(inside), maxLine), parser)
	}
	return l.addLines(bufio.NewReaderSize(bytes.NewReader(text), maxLine), parser)
}

// decodeBase64 takes either alphabet, padding or none, and line ends anywhere; ok
// is false if that does not give text.
func decodeBase64(text string) (plain string, ok bool) {
	text = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "").Replace(text)
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return string(b), err == nil && len(b) > 0 && utf8.Valid(b)
}

// cutShared takes apart what links that people share have more than list lines:
// a name behind #, and credentials in base64.
func cutShared(line string) (link, name string) {
	link, name, _ = strings.Cut(line, "#")
	if text, err := url.PathUnescape(name); err == nil {
		name = text
	}
	name = strings.TrimSpace(strings.ToValidUTF8(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, name), ""))
	scheme, rest, _ := strings.Cut(link, "://")
	userinfo, host, found := strings.Cut(rest, "@")
	if !found || strings.Contains(userinfo, ":") {
		return link, name
	}
	login, ok := decodeBase64(strings.ReplaceAll(userinfo, "%3D", "="))
	user, password, both := strings.Cut(login, ":")
	if !ok || !both || hasControl(login) {
		return link, name
	}
	return scheme + "://" + url.UserPassword(user, password).String() + "@" + host, name
}
