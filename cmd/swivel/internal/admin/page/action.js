// Pausing, draining and resuming, behind a question for the reason.
import * as api from "./api.js";
import { byId, text } from "./dom.js";

const dialog = byId("action");
const form = dialog.querySelector("form");
const trouble = dialog.querySelector(".trouble");
const notes = {
  pause: "No new request gets it, until it is resumed. What is under way finishes.",
  drain: "It runs dry: no new request gets it, and what is under way finishes.",
  resume: "It is used again, as far as its breaker lets it.",
};
let current;

export function ask(action, proxy) {
  current = { action, proxy };
  const title = action[0].toUpperCase() + action.slice(1);
  text(byId("action-title"), `${title} ${proxy.name}?`);
  text(byId("action-note"), notes[action]);
  text(form.querySelector(".primary"), title);
  text(trouble, "");
  form.reason.value = "";
  form.reason.required = action !== "resume";
  form.reason.closest("label").hidden = action === "resume";
  dialog.showModal();
}

// onDone calls f when something was done.
export function onDone(f) {
  byId("cancel").addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault(); // the question stays until it is answered
    try {
      await api.post(`proxies/${current.proxy.id}/${current.action}`, { reason: form.reason.value, by: form.by.value });
    } catch (problem) {
      text(trouble, problem.message);
      return;
    }
    dialog.close();
    f();
  });
}
