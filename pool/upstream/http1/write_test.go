package http1

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"
)

func TestLinesAsWritten(t *testing.T) {
	b := AppendRequestLine(nil, "GET", "http://a/{}\\%2F")
	b = Fields{{"sec-ch-ua", "x"}, {"Empty", ""}, {"sec-ch-ua", "y"}}.Append(b)
	if got, want := string(b), "GET http://a/{}\\%2F HTTP/1.1\r\nsec-ch-ua: x\r\nEmpty: \r\nsec-ch-ua: y\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// RFC 9112 section 4: the blank stays when there is no reason.
	if got := string(AppendStatusLine([]byte("x"), 204, "")); got != "xHTTP/1.1 204 \r\n" {
		t.Errorf("got %q", got)
	}
	if got := string(AppendLastChunk(nil, nil)); got != "0\r\n\r\n" {
		t.Errorf("got %q", got)
	}
	if got := string(AppendLastChunk(nil, Fields{{"A", "b"}})); got != "0\r\nA: b\r\n\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestSealedChunkOfAnySize(t *testing.T) {
	const most = 70_000
	data := make([]byte, most)
	for i := range data {
		data[i] = byte(i)
	}
	room := make([]byte, ChunkRoom+most+2)
	var in bytes.Reader
	br := bufio.NewReaderSize(nil, 128<<10)
	got := make([]byte, most)
	for n := 1; n <= most; n++ {
		copy(room[ChunkRoom:], data[:n])
		chunk := SealChunk(room[:ChunkRoom+n])
		in.Reset(AppendLastChunk(chunk, nil))
		br.Reset(&in)
		body := NewBody(br, Framing{Kind: Chunked, strict: true})
		if m, err := io.ReadFull(body, got[:n]); m != n || err != nil || !bytes.Equal(got[:n], data[:n]) {
			t.Fatalf("%d bytes: %d came back, %v", n, m, err)
		}
		if m, err := body.Read(got); m != 0 || err != io.EOF || br.Buffered() != 0 {
			t.Fatalf("%d bytes: %d more, %v", n, m, err)
		}
	}
}

func TestSealChunkWorksInPlace(t *testing.T) {
	room := make([]byte, 3+ChunkRoom+5+2)
	copy(room[3+ChunkRoom:], "hello")
	chunk := SealChunk(room[3 : 3+ChunkRoom+5])
	if string(chunk) != "5\r\nhello\r\n" || &chunk[3] != &room[3+ChunkRoom] {
		t.Errorf("got %q", chunk)
	}
	if string(room[:3]) != "\x00\x00\x00" {
		t.Errorf("wrote in front of its room: %q", room)
	}
	// Without room behind the data it takes new memory and leaves the old alone.
	full := append(make([]byte, ChunkRoom, ChunkRoom+5), "hello"...)
	if chunk = SealChunk(full[:len(full):len(full)]); string(chunk) != "5\r\nhello\r\n" {
		t.Errorf("got %q", chunk)
	}
}

// chunkPieces encodes pieces the way a relay does.
func chunkPieces(pieces [][]byte, trailer Fields) []byte {
	var out []byte
	for _, p := range pieces {
		if len(p) > 0 {
			out = append(out, SealChunk(append(make([]byte, ChunkRoom), p...))...)
		}
	}
	return AppendLastChunk(out, trailer)
}

func TestAnyBodyInAnyPiecesComesBack(t *testing.T) {
	piece := rapid.SliceOfN(rapid.Byte(), 0, 300)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces")
		next := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "next message")
		how := rapid.SampledFrom(arrivals).Draw(t, "arrival")
		size := rapid.IntRange(16, 600).Draw(t, "buffer")
		room := rapid.IntRange(1, 400).Draw(t, "read size")
		strict := rapid.Bool().Draw(t, "strict")

		wire := append(chunkPieces(pieces, Fields{{"A", "b"}}[:rapid.IntRange(0, 1).Draw(t, "trailers")]), next...)
		br := bufio.NewReaderSize(how.wrap(bytes.NewReader(wire)), size)
		body := NewBody(br, Framing{Kind: Chunked, strict: strict})
		got, err := readIn(body, room)
		if want := bytes.Join(pieces, nil); err != nil || !bytes.Equal(got, want) || !body.Ended() {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		if rest, _ := io.ReadAll(br); !bytes.Equal(rest, next) {
			t.Fatalf("left %q, want %q", rest, next)
		}
	})
}

// readIn reads r to its end, room bytes at a time.
func readIn(r io.Reader, room int) ([]byte, error) {
	var all []byte
	for buf := make([]byte, room); ; {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}
