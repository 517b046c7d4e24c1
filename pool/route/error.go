package route

import "strings"

// Error is a key that is not known, or has a value that is none. Its text is
// safe to be shown to the client, even in a status line.
type Error struct {
	Key    string // as the client spelt it; "" if it is no word, or no key is at fault
	Reason string // what is wrong with its value, "" if the key is not known
}

// Error names the key, never its value.
func (e *Error) Error() string {
	switch {
	case e.Reason == "" && e.Key == "":
		return "bad routing keys: what stands where a key should is no word"
	case e.Reason == "":
		return "unknown routing key " + e.Key
	case e.Key == "":
		return "bad routing keys: " + e.Reason
	}
	return "bad routing key " + e.Key + ": " + e.Reason
}

// unknown is the error for a word that is no key. What does not look like one
// is not repeated: it may be anything.
func unknown(word string) *Error {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
	if len(word) > 32 || strings.Trim(word, plain) != "" {
		word = ""
	}
	return &Error{Key: word}
}
