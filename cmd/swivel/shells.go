package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// caseShell is a shell for which a script is a function of case statements. Its
// parts are code of that shell.
type caseShell struct {
	begin  string // up to a loop over the words before the cursor
	word   string // one of them
	before string // the word right before the cursor
	offer  string // offers what stands at %s, blanks between
	files  string // offers files
	end    string // puts the function to use
}

var (
	bash = caseShell{
		begin: "# bash completion of swivel\n_swivel() {\n  local cmd='' i cur=${COMP_WORDS[COMP_CWORD]}\n  COMPREPLY=()\n" +
			"  for ((i = 1; i < COMP_CWORD; i++)); do\n",
		word: "${COMP_WORDS[i]}", before: "${COMP_WORDS[COMP_CWORD-1]}",
		offer: `COMPREPLY=($(compgen -W '%s' -- "$cur"))`, files: `COMPREPLY=($(compgen -f -- "$cur"))`,
		end: "complete -o bashdefault -F _swivel swivel\n",
	}
	zsh = caseShell{
		begin: "#compdef swivel\n_swivel() {\n  local cmd='' i\n  for ((i = 2; i < CURRENT; i++)); do\n",
		word:  "${words[i]}", before: "${words[CURRENT-1]}",
		offer: "compadd -- %s", files: "_files",
		end: "compdef _swivel swivel\n",
	}
)

// script finds the command that the words name, and offers what may stand behind
// the last of them: behind a flag its values, else commands and flags.
func (s caseShell) script(nodes []node) string {
	var b strings.Builder
	b.WriteString(s.begin + "    case \"$cmd " + s.word + "\" in\n" + findCommand(nodes) + "    esac\n  done\n  case " + s.before + " in\n")
	by := followed(nodes)
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		offer := fmt.Sprintf(s.offer, kind) + "; "
		switch kind {
		case "FILE":
			offer = s.files + "; "
		case "ANY":
			offer = ""
		}
		_, _ = fmt.Fprintf(&b, "    %s) %sreturn;;\n", strings.Join(by[kind], "|"), offer)
	}
	b.WriteString("  esac\n  case $cmd in\n")
	for _, n := range nodes {
		_, _ = fmt.Fprintf(&b, "    '%s') "+s.offer+";;\n", n.path, strings.Join(n.words(), " "))
	}
	b.WriteString("  esac\n}\n" + s.end)
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
