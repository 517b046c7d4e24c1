package pool

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAML bounds what is parsed at once: it takes a hundred times its length in
// memory and more, if somebody is out for that.
const maxYAML = 8 << 20

var (
	errYAML      = errors.New("a configuration in YAML is limited to 8 MiB")
	errNotClash  = errors.New("the YAML has no list of proxies: under the key proxies")
	errEntry     = errors.New("the entry is no proxy with a type")
	errChained   = errors.New("dialer-proxy is not supported: it would be left out silently")
	errSOCKSTLS  = errors.New("socks5 with tls is not supported")
	errOtherType = errors.New("its type is not supported")
)

// clashKey is how a line of a configuration of Clash begins that is not indented.
// In a list line a colon is followed by a port or a password.
var clashKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*:(\s|$)`)

// isClash says whether a list that begins so is YAML, as Clash has it: it may
// have much else in front of its proxies.
func isClash(start []byte) bool {
	line := firstLine(start)
	if line == "---" {
		_, rest, _ := strings.Cut(string(start), "---")
		line = firstLine([]byte(rest))
	}
	return clashKey.MatchString(line)
}

// readClash reads the entries under proxies: that are http or socks5. Others are
// skipped and counted, which is what most of such a file often is.
func (l *List) readClash(r io.Reader, env Env) error {
	text, err := readAll(r, maxYAML, errYAML)
	if err != nil {
		return err
	}
	var file struct {
		Proxies []yaml.Node `yaml:"proxies"`
	}
	// What yaml says of errors may quote the file.
	if err := yaml.Unmarshal(text, &file); err != nil {
		return errors.New("the YAML is malformed" + yamlLine.ReplaceAllString(yamlLine.FindString(err.Error()), " at$0") + yamlReason)
	}
	if file.Proxies == nil {
		return errNotClash
	}
	for i := range file.Proxies {
		if l.hopeless() {
			return errNoList
		}
		l.Lines = max(l.Lines, file.Proxies[i].Line)
		record, err := l.clashRecord(&file.Proxies[i])
		if err != nil {
			l.skip(err)
			continue
		}
		l.addRecord(record, env)
	}
	l.Lines = strings.Count(strings.TrimRight(string(text), "\n"), "\n") + 1
	return nil
}

// yamlReason tells who has written no YAML why it was read as such.
const yamlReason = ": a list that begins with a word, a colon and a blank is read as a configuration of Clash"

var yamlLine = regexp.MustCompile(` line [0-9]{1,9}`)

// clashRecord reads an entry.
func (l *List) clashRecord(entry *yaml.Node) (*record, error) {
	var fields map[string]yaml.Node
	if entry.Decode(&fields) != nil || fields["type"].Value == "" {
		return nil, errEntry
	}
	value := func(key string) string { return scalar(fields[key]) }
	r := &record{host: value("server"), port: value("port"), user: value("username"), password: value("password")}
	secure := value("tls") == "true"
	switch kind := strings.ToLower(value("type")); {
	case value("dialer-proxy") != "":
		return nil, errChained
	case kind == "socks5" && secure:
		return nil, errSOCKSTLS
	case kind == "http" && secure:
		r.scheme = "https"
	case kind == "http" || kind == "socks5":
		r.scheme = kind
	case isForeign(kind):
		return nil, fmt.Errorf("type %s is not supported", kind)
	default:
		return nil, errOtherType
	}
	if r.port == "" {
		return nil, errNoPort
	}
	r.set("name", value("name"))
	if secure {
		r.set("sni", value("sni"))
		r.set("insecure", value("skip-cert-verify"))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(clashFields, key) {
			l.ignore(key)
		}
	}
	return r, nil
}

// clashFields are those that mean something here.
var clashFields = []string{
	"type", "name", "server", "port", "username", "password", "tls", "sni", "skip-cert-verify", "dialer-proxy",
}

// scalar is a value as it is written: the number 0123 is a password like any
// other.
func scalar(n yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = *n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	if n.Tag == "!!bool" {
		return strings.ToLower(n.Value)
	}
	return n.Value
}
