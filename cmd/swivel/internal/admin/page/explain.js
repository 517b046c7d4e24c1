// Who would serve a request.
import * as api from "./api.js";
import { byId, h } from "./dom.js";
import { number, percent, span } from "./words.js";

const limit = 20;

export function watchExplain() {
  const form = byId("explain-form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = Object.fromEntries(new FormData(form));
    try {
      byId("explanation").replaceChildren(...explanation(await api.get("explain", { ...wanted, limit })));
    } catch (problem) {
      byId("explanation").replaceChildren(h("p", { class: "trouble" }, problem.message));
    }
  });
}

function explanation(e) {
  const notes = [`${e.target}${e.route ? ` with ${e.route}` : ""}: ${Object.entries(e.counts).map(([skip, n]) => `${n} ${skip}`).join(", ")}`];
  if (e.target_rest_s) notes.push(`The target is down, and is left alone for another ${span(e.target_rest_s)}: 502 at once.`);
  if (e.local_outage) notes.push("This machine's network seems to be down: one request a second tries.");
  if (e.retry_after_s) notes.push(`Nobody can be picked for another ${span(e.retry_after_s)}: 503.`);
  if (e.lacking) notes.push(`No proxy of the list meets ${e.lacking.join(", ")}: 503.`);
  else if (e.stuck) notes.push("Nobody can be picked until somebody is resumed or the list changes: 503.");
  if (e.session_proxy) notes.push(`The session has ${e.session_proxy}.`);
  return [
    ...notes.map((note) => h("p", {}, note)),
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ...["Proxy", "Weight", "Share", "Why not"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...e.proxies.map(chance)))),
  ];
}

function chance(c) {
  const picked = c.weight > 0;
  const why = c.skip === "in_use" ? "" : [c.skip, c.cause ? `(${c.cause})` : "", c.misses ? `of ${c.misses.join(", ")}` : "", c.after_s ? `for another ${span(c.after_s)}` : ""].filter(Boolean).join(" ");
  return h("tr", {}, h("td", {}, c.name, h("small", {}, c.id)), h("td", {}, picked ? number(c.weight) : "–"), h("td", {}, picked ? percent(c.share) : "–"), h("td", {}, why));
}
