package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pictures is a folder that gets a picture of the page whenever a test takes
// one, for people to look at; "": none are taken.
var pictures = os.Getenv("SWIVEL_TEST_PICTURES")

// browser is a page in a real Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts one. When the test ends the page must not have complained.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(installed(t, "chromium", "chromium")), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	messages := chromedp.Console(ctx)
	t.Cleanup(func() {
		closeBrowser()
		end()
		for m, err := range messages {
			if err != nil {
				break
			}
			// A 401 is how a token is asked for, and a 400 says what is wrong with a form.
			if (m.Type == chromedp.ConsoleError || m.IsException()) && !strings.Contains(m.Text, "with a status of 40") {
				t.Errorf("the page complains: %v", m)
			}
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t, ctx}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: firstRows}); err != nil {
		t.Fatal(err)
	}
	return b
}

// firstRows notes when the first proxies could be seen.
const firstRows = `new MutationObserver((_, observer) => {
	if (document.querySelector('#proxy-rows tr')) {
		observer.disconnect();
		requestAnimationFrame(() => setTimeout(() => { window.firstRows = performance.now(); }));
	}
}).observe(document, { childList: true, subtree: true });`

// firstRowsAt is that time, in milliseconds since the page was asked for.
const firstRowsAt = `(async () => {
	while (window.firstRows === undefined) await new Promise(requestAnimationFrame);
	return window.firstRows;
})()`

// do does one thing after the other.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is what an expression comes to in the page, at last if it is a promise.
func eval[T any](b *browser, expression string, args ...any) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(expression, args...), chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// sees waits until an element holds the text.
func (b *browser) sees(selector, text string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		found := eval[string](b, "new Promise(requestAnimationFrame).then(() => document.querySelector(%q)?.innerText ?? '')", selector)
		if strings.Contains(found, text) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Errorf("%s never holds %q, but %q", selector, text, found)
			b.picture("failed")
			b.t.FailNow()
		}
	}
}

// chooses sets a field as a person would.
func (b *browser) chooses(selector, value string) {
	b.t.Helper()
	eval[bool](b, "(() => { const e = document.querySelector(%q); e.value = %q; return e.dispatchEvent(new Event('input', { bubbles: true })); })()", selector, value)
}

// looks makes the page as wide as that, light or dark, and takes a picture.
func (b *browser) looks(name string, width int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 1000))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("%s: the page is %d wide, and its window %d", name, wide, width)
	}
	b.picture(name)
}

func (b *browser) picture(name string) {
	b.t.Helper()
	if pictures == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
