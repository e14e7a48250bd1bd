"use strict";

const EVERY = 10000;
const METHODS = { incremental: "good", full: "slow", unchanged: "", "states-only": "tide" };
const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const state = document.getElementById("state");
let chosen = named(location.hash.slice(1));
let shown = "";

function named(hash) {
  try {
    return decodeURIComponent(hash);
  } catch { /* typed by hand: the first workspace is shown */
    return "";
  }
}

/* ---- small tools: everything that comes from a workspace becomes text, never markup ---- */

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const count = (number) => (number === null || number === undefined ? "–" : number.toLocaleString("en"));

function ago(text) {
  if (!text) return el("span", { class: "soft" }, "never");
  const instant = new Date(text);
  const seconds = Math.max(0, Math.round((Date.now() - instant) / 1000));
  const steps = [[86400, "d"], [3600, "h"], [60, "min"]];
  const step = steps.find(([size]) => seconds >= size);
  const words = step ? `${Math.floor(seconds / step[0])} ${step[1]} ago` : `${seconds} s ago`;
  return el("time", { datetime: text, title: instant.toLocaleString(), class: "nowrap" }, words);
}

function took(run) {
  if (!run.started || !run.ended) return "–";
  return `${((new Date(run.ended) - new Date(run.started)) / 1000).toFixed(1)} s`;
}

const tag = (text, kind) => el("span", { class: `tag ${kind || ""}` }, text);

function method(outcome) {
  if (!outcome) return tag("not yet", "");
  if (outcome.error) return tag("failed", "bad");
  return tag(outcome.method || "–", METHODS[outcome.method]);
}

function reasons(outcome) {
  if (!outcome) return "";
  if (outcome.error) return `${outcome.error.message || ""} ${outcome.error.hint ? `(${outcome.error.hint})` : ""}`;
  return outcome.reasons.map((reason) =>
    el("div", {}, reason.text ? `${reason.text} ` : "", el("code", {}, reason.code)));
}

function saved(outcome) {
  const read = outcome ? outcome.rows_read : null;
  const full = outcome ? outcome.rows_full : null;
  if (read === null || read === undefined) return "–";
  if (!full) return count(read);
  const share = Math.min(1, read / full);
  const words = share < 1 ? `${Math.floor((1 - share) * 1000) / 10} % fewer` : "as many";
  return [el("meter", { min: 0, max: 1, value: share, title: `${count(read)} rows, a full run reads ${count(full)}` }),
    ` ${words}`, el("div", { class: "soft" }, `${count(read)} of ${count(full)}`)];
}

function table(label, heads, rows, empty) {
  if (!rows.length) return el("p", { class: "soft" }, empty);
  const head = heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell, at) => (
    at === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: heads[at][1] }, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, el("caption", { class: "visually-hidden" }, label),
      el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

/* ---- the parts of the page ---- */

function freshness(view) {
  const waiting = Object.entries(view.pending);
  if (view.paused) return tag("paused", "");
  if (view.replaced) return tag("replaced: the answer is of the former text", "slow");
  if (view.anew) return tag("to be made anew", "slow");
  if (!view.run) return tag("no answer yet", "slow");
  if (!waiting.length) return tag("up to date", "good");
  const words = waiting.map(([source, number]) => `${count(number)} of ${source}`).join(", ");
  return [tag("waiting", "tide"), el("div", { class: "soft" }, words)];
}

function views(document_) {
  const rows = document_.views.map((view) => [
    view.name, freshness(view), ago(view.answered),
    Object.entries(view.versions).map(([name, at]) => el("div", { class: "soft nowrap" }, `${name} ${count(at)}`)),
    method(view.last), el("div", { class: "reason" }, reasons(view.last)), saved(view.last)]);
  return table("Views", [["View"], ["Freshness"], ["Last answer"], ["Holds versions"], ["Method"],
    ["Reason"], ["Rows read", "nowrap"]], rows, "There are no views yet.");
}

function sources(document_) {
  const rows = document_.sources.map((source) => [
    source.name, [source.kind, source.held ? [" ", tag("held", "slow")] : "",
      source.ignored.length ? [" ", tag(`ignores ${source.ignored.join(", ")}`, "slow")] : "",
      source.error ? [" ", tag("takes nothing in", "bad"), el("div", { class: "reason" }, source.error.message)] : ""].flat(),
    count(source.version), count(source.pending), count(source.rows)]);
  return table("Sources", [["Source"], ["Kind"], ["Version", "number"], ["Arrivals waiting", "number"],
    ["Rows", "number"]], rows, "There are no sources yet.");
}

function runs(document_) {
  const rows = document_.runs.flatMap((run) => run.views.map((outcome, at) => [
    at === 0 ? `#${run.run}` : el("span", { class: "visually-hidden" }, `#${run.run}`),
    at === 0 ? ago(run.ended) : "", at === 0 ? took(run) : "", outcome.name, method(outcome),
    el("div", { class: "reason" }, reasons(outcome)), saved(outcome)]));
  return table("Last runs", [["Run"], ["Ended"], ["Took", "nowrap"], ["View"], ["Method"], ["Reason"],
    ["Rows read", "nowrap"]], rows, "Nothing has run yet.");
}

function facts(document_) {
  const waiting = document_.sources.reduce((sum, source) => sum + source.pending, 0);
  const isCurrent = (view) => view.run && !view.replaced && !view.anew && !Object.keys(view.pending).length;
  const current = document_.views.filter(isCurrent).length;
  const last = document_.runs[0];
  const outcomes = last ? last.views.filter((one) => one.rows_full) : [];
  const read = outcomes.reduce((sum, one) => sum + (one.rows_read || 0), 0);
  const full = outcomes.reduce((sum, one) => sum + one.rows_full, 0);
  const fact = (name, value, note) => el("div", {}, el("dt", {}, name), el("dd", {}, value, note ? el("small", {}, ` ${note}`) : null));
  return el("dl", { class: "facts" },
    fact("Views up to date", `${current}`, `of ${document_.views.length}`),
    fact("Arrivals waiting", count(waiting)),
    fact("Last run", last ? ago(last.ended) : "never", last ? `#${last.run}` : null),
    fact("Rows read in the last run", full ? `${Math.ceil((read / full) * 1000) / 10} %` : "–", full ? "of a full run" : null));
}

function note(error, title) {
  return el("div", { class: "note bad", role: "alert" }, el("strong", {}, title),
    el("p", {}, `${error.message} `, el("code", {}, error.code)), error.hint ? el("p", { class: "soft" }, error.hint) : null);
}

function draw(document_) {
  const { read, ...rest } = document_;
  const text = JSON.stringify(rest);
  state.replaceChildren(`As of ${new Date(read || Date.now()).toLocaleTimeString()}`);
  if (text === shown && !main.querySelector("time")) return;
  shown = text;
  if (document_.error) {
    main.replaceChildren(note(document_.error, `Workspace ${document_.name} cannot be read`));
    return;
  }
  const at = [...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  main.replaceChildren(facts(document_), el("h2", {}, "Views"), views(document_), el("h2", {}, "Last runs"),
    runs(document_), el("h2", {}, "Sources"), sources(document_));
  [...main.querySelectorAll(".scroll")].forEach((box, index) => { box.scrollLeft = at[index] || 0; });
}

function drawTabs(names) {
  if (!names.includes(chosen)) [chosen] = names;
  tabs.replaceChildren(...names.map((name) => {
    const button = el("button", { type: "button", "aria-current": String(name === chosen) }, name);
    button.addEventListener("click", () => { chosen = name; location.hash = encodeURIComponent(name); refresh(); });
    return button;
  }));
}

async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.status === 401 ? "sign in to Airflow again" : `the server answered ${answer.status}`);
  return answer.json();
}

async function refresh() {
  try {
    const known = await ask("api/workspaces");
    drawTabs(known.workspaces);
    if (known.error) {
      main.replaceChildren(note(known.error, "No workspaces"));
      state.replaceChildren("");
      shown = "";
    } else {
      const asked = chosen;
      const found = await ask(`api/workspaces/${encodeURIComponent(asked)}`);
      if (asked === chosen) draw(found);
    }
  } catch (error) {
    state.replaceChildren(`Not refreshed: ${error.message}`);
  }
}

/* ---- the theme of Airflow around us, and the beat ---- */

function theme() {
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  try {
    const outer = window.parent.document.documentElement;
    if (window.parent !== window) dark = outer.classList.contains("dark");
  } catch { /* not inside Airflow */ }
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/* A store that hangs is asked once at a time: a browser has few connections to one host, and Airflow needs them. */
let asking = false;

async function beat() {
  asking = true;
  try { await refresh(); } finally { asking = false; }
}

theme();
try {
  new MutationObserver(theme).observe(window.parent.document.documentElement, { attributes: true, attributeFilter: ["class"] });
} catch { /* not inside Airflow */ }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
beat();
setInterval(() => { if (!document.hidden && !asking) beat(); }, EVERY);
