package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Run prints the manual page: of commands and flags all that there are, so that it
// cannot be out of date.
func (manCmd) Run(k *kong.Context, s streams) error {
	_, err := io.WriteString(s.out, manPage(k.Model.Node))
	return err
}

// manTail is what no flag tells.
const manTail = `.SH SIGNALS
.TP
SIGTERM, SIGINT
Stop: no new clients, and those that are served may finish within \-\-grace. A second one ends the process at once.
.TP
SIGHUP
Read the configuration, the lists and the users again. What is refused stays as it was.
.SH ENVIRONMENT
Every key of the configuration file is also a variable, SWIVEL_SECTION_KEY. Flags win over variables, variables over the file.
.SH EXIT STATUS
0 if all is well, 1 if something failed, 2 if the command line, the configuration or a list cannot be used.
.SH EXAMPLES
.EX
swivel demo
swivel config check \-\-proxies proxies.txt
swivel serve \-\-proxies proxies.txt
curl \-x http://127.0.0.1:8484 https://example.org/
.EE
`

// manPage is written for the macros of man(7).
func manPage(root *kong.Node) string {
	var b strings.Builder
	summary, rest, _ := strings.Cut(root.Help, "\n\n")
	_, _ = fmt.Fprintf(&b, ".TH SWIVEL 1 \"\" \"swivel %s\"\n.SH NAME\nswivel \\- %s\n", roff(version()), roff(strings.TrimSuffix(summary, ".")))
	b.WriteString(".SH SYNOPSIS\n.B swivel\n.I command\n[flags]\n.SH DESCRIPTION\n" + roff(summary) + "\n.PP\n" + roff(rest) + "\n.SH COMMANDS\n")
	manCommands(&b, root)
	b.WriteString(manTail)
	return b.String()
}

// manCommands writes the commands below one that can be run themselves.
func manCommands(b *strings.Builder, n *kong.Node) {
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		if len(child.Children) > 0 {
			manCommands(b, child)
			continue
		}
		_, _ = fmt.Fprintf(b, ".SS swivel %s\n%s\n", roff(strings.TrimSuffix(child.Path(), " [flags]")), roff(child.Help))
		if child.Detail != "" {
			_, _ = fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(child.Detail))
		}
		for _, arg := range child.Positional {
			_, _ = fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(arg.Summary()), roff(arg.Help))
		}
		for _, flag := range child.Flags {
			if !flag.Hidden {
				_, _ = fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(flag.String()), roff(flag.Help))
			}
		}
	}
}

// roff escapes what the formatter would take for something else.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
