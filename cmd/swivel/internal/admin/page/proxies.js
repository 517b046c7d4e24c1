// The list of proxies: a part of it at a time, found and sorted by the daemon.
import * as api from "./api.js";
import { ask } from "./action.js";
import { shares } from "./chart.js";
import { byId, debounced, h, text } from "./dom.js";
import { at, count, milliseconds, now, percent, span } from "./words.js";

const pageSize = 50;
const filter = byId("filter");
let offset = 0;
let asked = 0;

// showProxies lists the part that is looked at. An answer that is overtaken by
// a newer question is dropped.
export async function showProxies(summary) {
  const question = ++asked;
  const { items, total } = await api.list("proxies", { ...Object.fromEntries(new FormData(filter)), limit: pageSize, offset });
  if (question !== asked) return;
  if (items.length === 0 && offset > 0) { // the list has become shorter
    offset = 0;
    return showProxies(summary);
  }
  render(items, summary);
  text(byId("range"), total ? `${count(offset + 1)}–${count(offset + items.length)} of ${count(total)}` : "none");
  byId("previous").disabled = offset === 0;
  byId("next").disabled = offset + items.length >= total;
}

// render replaces the rows, and keeps the focus where it was.
function render(items, summary) {
  const focused = document.activeElement?.dataset?.key;
  byId("proxy-rows").replaceChildren(...items.map((p) => row(p, summary)));
  if (focused) byId("proxy-rows").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function row(p, summary) {
  const due = summary.effective_weight ? p.effective_weight / summary.effective_weight : 0;
  const is = summary.picks ? p.picks / summary.picks : 0;
  const place = [p.provider, p.country, p.region, p.city, p.protocol, ...(p.tags ?? []).map((tag) => `#${tag}`)].filter(Boolean);
  const cell = (label, ...children) => h("td", { "data-label": label }, ...children);
  return h("tr", { "data-id": p.id },
    h("td", { class: "wide" }, p.name, h("small", {}, [p.id, ...place].join(" · "))),
    h("td", { class: "wide" }, h("span", { class: `state ${standing(p)}` }, standing(p).replace("_", " ")), h("small", {}, ...why(p))),
    cell("Share of weight now → of picks", shares(due, is), h("small", {}, `${percent(due)} → ${percent(is)}; weight ${p.weight}`)),
    cell("Success", percent(p.success_ratio)),
    cell("Latency", milliseconds(p.latency_ms)),
    cell("In flight", count(p.in_flight)),
    h("td", { class: "wide" }, ...actions(p)));
}

const aside = (p) => p.paused || (p.drained && p.pause_reason);

function standing(p) {
  if (p.paused) return "paused";
  if (p.drained && (p.pause_reason || p.state === "closed")) return "drained";
  return p.state;
}

function why(p) {
  if (aside(p)) return [`${p.pause_reason}${p.paused_by ? `, says ${p.paused_by}` : ""}, since ${at(p.paused_at)}`];
  if (standing(p) === "drained") return ["weight 0"];
  if (p.state === "closed") return p.overdue ? ["overdue: its last requests have no answer yet"] : [];
  return [p.cause, ", ", h("span", { "data-until": p.next_test_time }, until(p.next_test_time))];
}

const until = (t) => (t > now() ? `until ${at(t)}, for another ${span(t - now())}` : "due: a request will test it");

// tick lets the rests that are shown run down.
export function tick() {
  for (const element of document.querySelectorAll("[data-until]")) text(element, until(Number(element.dataset.until)));
}

function actions(p) {
  const button = (action, label) => h("button", {
    type: "button", "data-key": `${p.id} ${action}`, "aria-label": `${label} ${p.name}`, onclick: () => ask(action, p),
  }, label);
  return aside(p) ? [button("resume", "Resume")] : [button("pause", "Pause"), button("drain", "Drain")];
}

// watchFilter calls refresh when another part is to be looked at.
export function watchFilter(refresh) {
  const anew = () => {
    offset = 0;
    refresh();
  };
  filter.addEventListener("input", debounced(anew, 200));
  filter.addEventListener("submit", (event) => event.preventDefault());
  for (const [id, by] of [["previous", -pageSize], ["next", pageSize]]) {
    byId(id).addEventListener("click", () => {
      offset = Math.max(0, offset + by);
      refresh();
    });
  }
}
