// The state of the whole: a line on top, numbers, charts and segments.
import * as api from "./api.js";
import { chart, shares, stack } from "./chart.js";
import { byId, h, text } from "./dom.js";
import { bytes, count, milliseconds, number, percent, span } from "./words.js";

const order = ["open", "half_open", "paused", "drained", "closed"];
const shownSegments = 50;

// busy is how full swivel may be before somebody should look.
const busy = 0.8;

export async function showSummary() {
  const s = await api.get("summary");
  showHealth(s);
  byId("tiles").replaceChildren(...tiles(s).map(([name, value, more]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, more) : null))));
  byId("segment-rows").replaceChildren(...s.segments.slice(0, shownSegments).map((one) => segmentRow(one, s)));
  const rest = s.segments.length - shownSegments;
  byId("segment-rest").hidden = rest <= 0;
  text(byId("segment-rest"), `… and ${count(rest)} smaller ones`);
  return s;
}

function showHealth(s) {
  const troubles = [];
  if (s.local_outage) troubles.push("this machine's network seems to be down");
  if (s.retry_after_s > 0) troubles.push(`no proxy is available for ${span(s.retry_after_s)}`);
  if (s.journal.failing) troubles.push(`the database cannot be written: ${count(s.journal.pending)} states are kept in memory`);
  byId("health").className = troubles.length ? "trouble" : "";
  text(byId("health"), troubles.length ? troubles.join("; ") : `serving, for ${span(s.at - s.started)}`);
}

function tiles(s) {
  const m = s.last_minute;
  return [
    ["Success", percent(m.success_ratio), `${count(m.served)} served, ${count(m.failed)} failed`],
    ["Requests a second", number((m.served + m.failed + m.refused) / m.seconds), `${bytes((m.up + m.down) / m.seconds)} a second`],
    ["Time until served, median", milliseconds(m.p50_ms), `p95 ${milliseconds(m.p95_ms)}, p99 ${milliseconds(m.p99_ms)}`],
    ["Connections", count(s.connections), `of ${count(s.connections_limit)}; ${count(s.in_flight)} in flight`],
    ["Proxies", count(s.proxies), states(s.states)],
    ["Weight in use", percent(s.weight ? s.effective_weight / s.weight : 0), "closed, not paused, not new to it"],
    ["Retry budget", count(s.retry_budget), "retries may be made at once"],
    ["Sessions", count(s.sessions), "have a proxy"],
  ];
}

const known = (counts) => order.filter((state) => counts[state]).map((state) => [state, counts[state]]);
const states = (counts) => known(counts).map(([state, n]) => `${count(n)} ${state.replace("_", " ")}`).join(", ");

function segmentRow(one, all) {
  const due = all.effective_weight ? one.effective_weight / all.effective_weight : 0;
  const is = all.picks ? one.picks / all.picks : 0;
  const resting = one.state && one.state !== "closed";
  return h("tr", {},
    h("td", { class: "wide" }, one.name || "(none)", resting ? h("small", { class: `state ${one.state}` }, `segment ${one.state.replace("_", " ")}`) : null),
    h("td", { "data-label": "Proxies" }, count(one.proxies)),
    h("td", { "data-label": "States" }, stack(known(one.states), one.proxies), h("small", {}, states(one.states))),
    h("td", { "data-label": "Share of weight now → of picks" }, shares(due, is), h("small", {}, `${percent(due)} → ${percent(is)}`)));
}

export async function showHistory(summary) {
  const steps = await api.get("history");
  const each = (f) => steps.map(f);
  const share = (part, all) => (all ? part / all : null);
  const rate = each((s) => (s.served + s.failed + s.refused) / s.seconds);
  byId("charts").replaceChildren(
    chart({
      title: "Errors", format: percent,
      lines: [
        { name: "requests", values: each((s) => share(s.failed, s.served + s.failed)) },
        { name: "attempts", values: each((s) => share(s.attempts_failed, s.attempts)) },
      ],
      limit: { name: "a breaker opens at", value: summary.error_ratio_limit },
    }),
    chart({
      title: "Time until served", format: milliseconds,
      lines: [50, 95, 99].map((q) => ({ name: `p${q}`, values: each((s) => s[`p${q}_ms`] || null) })),
      limit: summary.latency_limit_ms ? { name: "slow is", value: summary.latency_limit_ms } : undefined,
    }),
    chart({
      title: "Throughput", format: (v) => `${number(v)}/s`,
      lines: [{ name: "requests", values: rate }],
      limit: { name: "half of the usual", value: median(rate) / 2 },
    }),
    chart({
      title: "Utilisation", format: percent, most: 1,
      lines: [
        { name: "connections", values: each((s) => share(s.connections, summary.connections_limit)) },
        { name: "proxies out of use", values: each((s) => 1 - s.usable) },
      ],
      limit: { name: "look at", value: busy },
    }));
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
