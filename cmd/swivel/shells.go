package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func bashScript(nodes []node) string {
	var b strings.Builder
	b.WriteString("# bash completion of swivel\n_swivel() {\n  local cmd='' i cur=${COMP_WORDS[COMP_CWORD]} words=''\n  COMPREPLY=()\n" +
		"  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$cmd ${COMP_WORDS[i]}\" in\n" + findCommand(nodes) + "    esac\n  done\n" +
		"  case ${COMP_WORDS[COMP_CWORD-1]} in\n")
	by := followed(nodes)
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		_, _ = fmt.Fprintf(&b, "    %s) ", strings.Join(by[kind], "|"))
		switch kind {
		case "FILE":
			b.WriteString("COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n")
		case "ANY":
			b.WriteString("return;;\n")
		default:
			_, _ = fmt.Fprintf(&b, "COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return;;\n", kind)
		}
	}
	b.WriteString("  esac\n  case $cmd in\n")
	for _, n := range nodes {
		_, _ = fmt.Fprintf(&b, "    '%s') words='%s';;\n", n.path, strings.Join(n.words(), " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o bashdefault -F _swivel swivel\n")
	return b.String()
}

func zshScript(nodes []node) string {
	var b strings.Builder
	b.WriteString("#compdef swivel\n_swivel() {\n  local cmd='' i\n  for ((i = 2; i < CURRENT; i++)); do\n    case \"$cmd ${words[i]}\" in\n" +
		findCommand(nodes) + "    esac\n  done\n  case ${words[CURRENT-1]} in\n")
	by := followed(nodes)
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		_, _ = fmt.Fprintf(&b, "    %s) ", strings.Join(by[kind], "|"))
		switch kind {
		case "FILE":
			b.WriteString("_files; return;;\n")
		case "ANY":
			b.WriteString("return;;\n")
		default:
			_, _ = fmt.Fprintf(&b, "compadd -- %s; return;;\n", kind)
		}
	}
	b.WriteString("  esac\n  case $cmd in\n")
	for _, n := range nodes {
		_, _ = fmt.Fprintf(&b, "    '%s') compadd -- %s;;\n", n.path, strings.Join(n.words(), " "))
	}
	b.WriteString("  esac\n}\ncompdef _swivel swivel\n")
	return b.String()
}

func fishScript(nodes []node) string {
	var b strings.Builder
	b.WriteString("# fish completion of swivel\ncomplete -c swivel -f\n")
	for _, n := range nodes {
		when := fishCondition(n)
		for _, child := range n.below {
			_, _ = fmt.Fprintf(&b, "complete -c swivel -n '%s' -a %s -d '%s'\n", when, child.Name, fishQuote(child.Help))
		}
		for _, f := range n.flags {
			_, _ = fmt.Fprintf(&b, "complete -c swivel -n '%s' -l %s -d '%s'", when, f.Name, fishQuote(f.Help))
			if f.Short != 0 {
				_, _ = fmt.Fprintf(&b, " -s %c", f.Short)
			}
			switch kind := takes(f); kind {
			case "":
			case "FILE":
				b.WriteString(" -r -F")
			case "ANY":
				b.WriteString(" -x")
			default:
				_, _ = fmt.Fprintf(&b, " -x -a '%s'", kind)
			}
			b.WriteString("\n")
		}
		if n.path == "completion" {
			_, _ = fmt.Fprintf(&b, "complete -c swivel -n '%s' -a 'bash zsh fish'\n", when)
		}
	}
	return b.String()
}

// fishCondition is true behind the words of a command, and none of those below.
func fishCondition(n node) string {
	var all []string
	for word := range strings.FieldsSeq(n.path) {
		all = append(all, "__fish_seen_subcommand_from "+word)
	}
	var below []string
	for _, child := range n.below {
		below = append(below, child.Name)
	}
	if len(below) > 0 {
		all = append(all, "not __fish_seen_subcommand_from "+strings.Join(below, " "))
	}
	return strings.Join(all, "; and ")
}

func fishQuote(text string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)
}
