// What happens, as it happens.
import * as api from "./api.js";
import { byId, h, text } from "./dom.js";
import { at } from "./words.js";

const shown = 200;
const pause = 2000; // milliseconds before a stream that has ended is asked for again

// follow shows events for ever, and calls changed with each of them.
export async function follow(changed, failed) {
  let last = 0;
  for (;;) {
    try {
      for await (const event of api.events(last, () => text(byId("live"), "live"))) {
        last = event.id;
        show(event);
        changed(event);
      }
    } catch (problem) {
      await failed(problem);
    }
    text(byId("live"), "not connected, trying again");
    await new Promise((resume) => setTimeout(resume, pause));
  }
}

function show(event) {
  const rows = byId("event-rows");
  rows.prepend(h("li", {}, h("time", { datetime: new Date(event.at * 1000).toISOString() }, at(event.at)), ...words(event)));
  while (rows.childElementCount > shown) rows.lastElementChild.remove();
}

function words(e) {
  const name = h("strong", {}, e.segment ? `segment ${e.segment}` : e.name ?? "");
  switch (e.kind) {
    case "transition":
      return [name, " ", h("span", { class: `state ${e.to}` }, `${e.from} → ${e.to}`.replaceAll("_", " ")),
        ` by ${e.rule}${e.signal ? ` (${e.signal})` : ""}${e.until ? `, until ${at(e.until)}` : ""}${e.request ? ` · request ${e.request}` : ""}`];
    case "paused": case "drained":
      return [name, " ", h("span", { class: `state ${e.kind}` }, e.kind), `: ${e.reason}${e.by ? `, says ${e.by}` : ""}`];
    case "resumed":
      return [name, ` resumed${e.by ? `, says ${e.by}` : ""}`];
    case "outage":
      return [`local outage ${e.reason}`];
    default:
      return [`${e.kind} ${e.reason ?? ""}`];
  }
}
