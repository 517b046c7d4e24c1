package admin

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// openAPI is openapi.yaml.
var openAPI = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPIText)
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(openapi3.NewLoader().Context)
})

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openAPI()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDescriptionHasEveryRouteAndNoOther(t *testing.T) {
	var described, served []string
	for path, item := range description(t).Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	s := new(Server)
	for _, one := range append(s.open(), s.guarded()...) {
		served = append(served, strings.Replace(one.pattern, "{$}", "", 1))
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
}

func TestDescriptionSaysWhatTakesAToken(t *testing.T) {
	doc, s := description(t), new(Server)
	for _, one := range s.open() {
		method, path, _ := strings.Cut(strings.Replace(one.pattern, "{$}", "", 1), " ")
		if op := doc.Paths.Value(path).GetOperation(method); op.Security == nil || len(*op.Security) != 1 || len((*op.Security)[0]) != 0 {
			t.Errorf("%s takes no token", one.pattern)
		}
	}
	for _, one := range s.guarded() {
		method, path, _ := strings.Cut(one.pattern, " ")
		if op := doc.Paths.Value(path).GetOperation(method); op.Security != nil || op.Responses.Value("401") == nil {
			t.Errorf("%s takes a token, and answers 401 without", one.pattern)
		}
	}
}

func TestDescriptionIsServed(t *testing.T) {
	r := newRigWith(t, token, "127.0.0.1:1 name=a")
	if status, text := r.ask(t, "GET", "/openapi.yaml", "", nil); status != 200 || text != string(openAPIText) {
		t.Errorf("%d", status)
	}
}

// checkDescribed holds an answer against the description. What the mux itself
// answers is not described: unknown paths and methods, and folders.
func checkDescribed(t *testing.T, method, target string, response *http.Response, body []byte) {
	t.Helper()
	op := operationFor(description(t), method, target)
	if op == nil {
		if response.StatusCode < 300 {
			t.Errorf("%s %s is not described", method, target)
		}
		return
	}
	answer := op.Responses.Value(strconv.Itoa(response.StatusCode))
	if answer == nil {
		if response.StatusCode != http.StatusForbidden { // the guard against foreign names answers before all
			t.Errorf("%s %s: %d is not described", method, target, response.StatusCode)
		}
		return
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	content := answer.Value.Content[kind]
	switch {
	case content == nil && len(body) > 0:
		t.Errorf("%s %s: %d in %s is not described", method, target, response.StatusCode, kind)
	case kind == "application/json":
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Errorf("%s %s: %v", method, target, err)
		} else if err := content.Schema.Value.VisitJSON(value, openapi3.EnableFormatValidation()); err != nil {
			t.Errorf("%s %s: %d is not as described: %v", method, target, response.StatusCode, err)
		}
	}
	for name, header := range answer.Value.Headers {
		if header.Value.Required && response.Header.Get(name) == "" {
			t.Errorf("%s %s: no %s", method, target, name)
		}
	}
}

// operationFor finds what is described under a path; the one with fewer
// variables wins.
func operationFor(doc *openapi3.T, method, target string) (found *openapi3.Operation) {
	path, _, _ := strings.Cut(target, "?")
	parts, fewest := strings.Split(path, "/"), len(path)
	for pattern, item := range doc.Paths.Map() {
		if n := strings.Count(pattern, "{"); n < fewest && fits(strings.Split(pattern, "/"), parts) && item.GetOperation(method) != nil {
			found, fewest = item.GetOperation(method), n
		}
	}
	return found
}

func fits(pattern, parts []string) bool {
	return slices.EqualFunc(pattern, parts, func(p, part string) bool { return p == part || strings.HasPrefix(p, "{") && part != "" })
}
