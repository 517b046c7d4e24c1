// A small line chart: some lines over the same steps, and a line at the value
// from which on somebody should look.
import { h, svg } from "./dom.js";

const width = 300;
const height = 100;
const classes = ["first", "second", "third"];

// chart returns a figure. lines are { name, values }, a value of null is a gap;
// limit is { name, value } or nothing; format says a value in words.
export function chart({ title, lines, limit, format, most = 0 }) {
  const empty = lines.every((line) => line.values.every((value) => value === null));
  const top = Math.max(most, limit?.value ?? 0, ...lines.flatMap((line) => line.values.map((v) => v ?? 0))) * 1.05 || 1;
  const y = (value) => height - (value / top) * height;
  const latest = lines.map((line) => `${line.name} ${words(line.values.at(-1), format)}`);
  if (limit) latest.push(`${limit.name} ${format(limit.value)}`);
  return h("figure", {},
    h("figcaption", {}, title, " ", h("small", {}, empty ? "nothing yet" : `up to ${format(top / 1.05)}`)),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}, now: ${latest.join(", ")}` },
      svg("path", { class: "base", d: `M0 ${height}H${width}` }),
      limit ? svg("path", { class: "limit", d: `M0 ${y(limit.value)}H${width}` }) : null,
      ...lines.map((line, i) => svg("path", { class: classes[i], d: trace(line.values, y) }))),
    h("ul", { class: "legend" },
      ...lines.map((line, i) => entry(classes[i], `${line.name} ${words(line.values.at(-1), format)}`)),
      limit ? entry("limit", `${limit.name} ${format(limit.value)}`) : null));
}

const words = (value, format) => (value === null || value === undefined ? "–" : format(value));

const entry = (name, label) => h("li", {},
  svg("svg", { viewBox: "0 0 28 10", "aria-hidden": true }, svg("path", { class: name, d: "M0 5H28" })), label);

// trace joins the values; behind a gap it begins anew.
function trace(values, y) {
  const step = width / Math.max(1, values.length - 1);
  let d = "";
  values.forEach((value, i) => {
    if (value === null) return;
    const joined = i > 0 && values[i - 1] !== null;
    d += `${joined ? "L" : "M"}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!joined && (values[i + 1] ?? null) === null) d += "h1"; // one value alone is a dot
  });
  return d;
}

// shares compares what is due to somebody with what that one got: two bars over
// each other, of parts of the whole.
export function shares(due, is) {
  const top = Math.max(due, is) || 1;
  return svg("svg", { class: "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": true },
    svg("rect", { class: "due", y: 0, height: 4, width: (due / top) * 100 }),
    svg("rect", { class: "is", y: 5, height: 4, width: (is / top) * 100 }));
}

// stack is one bar of parts, by the class that each has.
export function stack(parts, total) {
  let x = 0;
  return svg("svg", { class: "stack", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": true },
    ...parts.map(([name, n]) => {
      const rect = svg("rect", { class: name, x, height: 10, width: (n / total) * 100 });
      x += (n / total) * 100;
      return rect;
    }));
}
