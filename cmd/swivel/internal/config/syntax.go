package config

import (
	"slices"
	"strconv"
	"strings"
)

// byParser are the problems that the YAML library finds as it puts tokens
// together. Those are numbered from 0, and those in the making of tokens from 1
// (its decode.go, function fail).
var byParser = []string{
	"did not find expected <document start>", "did not find expected node content", "did not find expected '-' indicator", "did not find expected key",
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "found undefined tag handle",
}

// syntaxReason is what is wrong with a file that is no YAML, and where.
func syntaxReason(err error) string {
	hint := "; what holds a : # ? , [ ] { or }, such as a URL, does best in quotes"
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	before, problem, found := strings.Cut(strings.TrimPrefix(reason, "line "), ": ")
	line, numberErr := strconv.Atoi(before)
	if !found || numberErr != nil {
		line, problem = 0, reason
	}
	if strings.HasPrefix(problem, "unknown anchor ") { // no line is told, and quoted is what may be a password
		return "unknown anchor; what begins with * and names none stands in quotes"
	}
	ofBytes := slices.Contains([]string{"control", "invalid", "incomplete", "unexpected", "input"}, strings.Fields(problem)[0])
	switch {
	case slices.Contains(byParser, problem):
		line++
	case line == 0 && ofBytes: // the file is no text, and no line is told
		return problem
	case line == 0:
		line = 1 // which the library leaves out
	}
	if strings.HasSuffix(problem, "cannot start any token") {
		hint = "; lines are indented with blanks, not tabs, and what begins with @, % or ` stands in quotes"
	}
	return "line " + strconv.Itoa(line) + ": " + problem + hint
}
