package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"swivel/cmd/swivel/internal/daemon"
)

// argumentProblem is what is wrong with arguments. One too many may be a proxy: it
// is shown as the name of a list is.
func argumentProblem(err error) string {
	const tooMany = "unexpected argument "
	rest, ok := strings.CutPrefix(err.Error(), tooMany)
	if !ok {
		return err.Error()
	}
	argument, meant, found := strings.Cut(rest, ", did you mean ")
	text := tooMany + daemon.ListLabels([]string{argument})[0]
	if found {
		text += ", did you mean " + meant
	}
	return text
}

// configFile is kong's mapper for paths, but an empty one stays empty: a variable
// that is set to nothing names no file, where kong takes it for this folder.
func configFile(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	if path != "" && path != "-" {
		path = kong.ExpandPath(path)
	}
	target.SetString(path)
	return nil
}
