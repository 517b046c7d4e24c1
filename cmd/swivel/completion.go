package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish." placeholder:"SHELL"`
}

// Help says what to do with what is printed.
func (completionCmd) Help() string {
	return "bash: source <(swivel completion bash)\nzsh:  source <(swivel completion zsh), behind compinit\n" +
		"fish: swivel completion fish | source"
}

// Run prints a script.
func (c *completionCmd) Run(k *kong.Context, s streams) error {
	nodes := completed(k.Model.Node, "", nil)
	script := map[string]func([]node) string{"bash": bash.script, "zsh": zsh.script, "fish": fishScript}[c.Shell]
	_, err := fmt.Fprint(s.out, script(nodes))
	return err
}

// node is a command, and what may stand behind it.
type node struct {
	path  string // "config check"; "" is swivel itself
	help  string
	below []*kong.Node
	flags []*kong.Flag
}

// completed are a command and all below it.
func completed(n *kong.Node, path string, inherited []*kong.Flag) (all []node) {
	var flags []*kong.Flag
	for _, f := range append(inherited[:len(inherited):len(inherited)], n.Flags...) {
		if !f.Hidden {
			flags = append(flags, f)
		}
	}
	one := node{path: path, help: n.Help, flags: flags}
	for _, child := range n.Children {
		if !child.Hidden {
			one.below = append(one.below, child)
		}
	}
	all = append(all, one)
	for _, child := range one.below {
		all = append(all, completed(child, strings.TrimSpace(path+" "+child.Name), flags)...)
	}
	return all
}

// words are what may stand behind a command: commands, or its flags.
func (n node) words() (words []string) {
	for _, child := range n.below {
		words = append(words, child.Name)
	}
	for _, f := range n.flags {
		words = append(words, "--"+f.Name)
	}
	if n.path == "completion" {
		words = append(words, "bash", "zsh", "fish")
	}
	return words
}

// takes says what a flag wants behind it: "" for nothing, "FILE", or the values.
func takes(f *kong.Flag) string {
	switch {
	case f.IsBool():
		return ""
	case f.Enum != "":
		return strings.ReplaceAll(f.Enum, ",", " ")
	case f.PlaceHolder == "FILE" || f.PlaceHolder == "LIST":
		return "FILE"
	}
	return "ANY"
}

// followed are the flags that want something behind them, by what that is.
func followed(nodes []node) map[string][]string {
	by, seen := map[string][]string{}, map[string]bool{}
	for _, n := range nodes {
		for _, f := range n.flags {
			if kind := takes(f); kind != "" && !seen[f.Name] {
				seen[f.Name] = true
				by[kind] = append(by[kind], "--"+f.Name)
			}
		}
	}
	return by
}

// findCommand is the shell code that puts the command which the words before the
// cursor name into cmd.
func findCommand(nodes []node) string {
	var b strings.Builder
	for _, n := range nodes {
		for _, child := range n.below {
			path := strings.TrimSpace(n.path + " " + child.Name)
			_, _ = fmt.Fprintf(&b, "      '%s %s') cmd='%s';;\n", n.path, child.Name, path)
		}
	}
	return b.String()
}
