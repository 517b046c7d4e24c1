// The page asks for the state of things every few seconds while somebody looks
// at it, and at once when something happens.
import { Refused, useToken } from "./api.js";
import { onDone } from "./action.js";
import { byId, text } from "./dom.js";
import { follow } from "./events.js";
import { watchExplain } from "./explain.js";
import { showProxies, tick, watchFilter } from "./proxies.js";
import { showHistory, showSummary } from "./traffic.js";

const period = 5000; // milliseconds between two looks
const historyPeriod = 10_000;
const soon = 1000; // after an event: a burst of them is one look

let lastHistory = 0;
let running = null; // the look that is under way
let again = false; // and whether there has to be another

// look refreshes everything, one look at a time.
function look() {
  if (running) {
    again = true;
    return;
  }
  running = refresh().catch(failed).finally(() => {
    running = null;
    if (again) {
      again = false;
      look();
    }
  });
}

async function refresh() {
  const summary = await showSummary();
  const parts = [showProxies(summary)];
  if (Date.now() - lastHistory >= historyPeriod) {
    lastHistory = Date.now();
    parts.push(showHistory(summary));
  }
  await Promise.all(parts);
}

async function failed(problem) {
  if (problem instanceof Refused && problem.status === 401) {
    await login();
    return;
  }
  byId("health").className = "trouble";
  text(byId("health"), problem instanceof Refused ? problem.message : "swivel does not answer");
}

// login asks for the token; those who ask while it is being asked wait too.
let asking = null;
function login() {
  const dialog = byId("login");
  asking ??= new Promise((done) => {
    dialog.addEventListener("close", () => {
      const { token } = dialog.querySelector("form");
      text(dialog.querySelector(".trouble"), token.value ? "That was not the token." : ""); // seen if it is asked for again
      useToken(token.value.trim());
      token.value = "";
      asking = null;
      look();
      done();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

let due = null;
function lookSoon() {
  due ??= setTimeout(() => {
    due = null;
    if (!document.hidden) look();
  }, soon);
}

watchFilter(look);
watchExplain();
onDone(look);
look();
follow(lookSoon, failed);
setInterval(() => document.hidden || look(), period);
setInterval(() => document.hidden || tick(), 1000);
document.addEventListener("visibilitychange", () => document.hidden || look());
