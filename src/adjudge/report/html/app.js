"use strict";
/* What every part of the page uses. Whatever was judged reaches the page by text nodes alone. */

const UNSEEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
  "\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0e\\ufeff\\ufff0-\\ufffb\\u{d800}-\\u{dfff}" +
  "\\u{e0000}-\\u{e0fff}]", "gu");

/** The text with whatever steers, turns the direction or cannot be seen written as an escape. */
function visible(text) {
  return String(text).replace(/\r\n/g, "\n").replace(UNSEEN, (c) => {
    const code = c.codePointAt(0);
    if (code < 256) return "\\x" + code.toString(16).padStart(2, "0");
    return code < 65536 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
  });
}

/** An element: h("a", {class: "x", href: "#"}, "text", child, ...). Strings become text. */
function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    made.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return made;
}

const $ = (id) => document.getElementById(id);
const INDEX = JSON.parse($("index").textContent);
const COLUMNS = INDEX.columns.map(([name, kind, trust], at) => ({ name, kind, trust, at }));
const STATES = INDEX.states;
const STANDING = new Map(Object.entries(INDEX.words));
const GRAVE = { failed: "bad", missing: "bad", regressed: "bad", unscored: "lost", changed: "mid", noise: "mid", flaky: "mid" };
const CASES = INDEX.cases.map(([id, tags, state, cost, seconds, cells], at) =>
  ({ id, word: STANDING.get(id) || "", tags: tags.map((t) => INDEX.tags[t]), state, cost, seconds, cells, at, said: null }));
const BY_ID = new Map(CASES.map((one) => [one.id, one]));
const STALE = typeof DecompressionStream === "undefined";

/** What a packed script element holds; throws where the browser cannot unpack. */
async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** A number as people read it. */
function plain(number) {
  if (typeof number !== "number") return String(number);
  return Number.isInteger(number) ? String(number) : String(+number.toPrecision(4));
}

function money(cost) {
  return cost === null || cost === undefined ? "" : "$" + (cost >= 100 ? cost.toFixed(2) : cost.toFixed(4));
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return seconds < 120 ? plain(+seconds.toFixed(1)) + " s" : Math.floor(seconds / 60) + " min " + Math.round(seconds % 60) + " s";
}

/** good, mid, bad by the position in its own scale; neutral without one. */
function tone(position) {
  if (position === null || position === undefined) return "neutral";
  return position >= 0.75 ? "good" : position >= 0.375 ? "mid" : "bad";
}

/** [words, tone] of a cell: [status, value or kind, position, flagged]. */
function said(cell) {
  if (!cell) return ["not asked", "off"];
  const [status, value, position] = cell;
  if (status === "u") return ["unscored: " + value, "lost"];
  if (status === "a") return ["abstained", "off"];
  if (status === "k") return ["skipped", "off"];
  if (value === true) return ["✔ pass", position === 0 ? "bad" : "good"];
  if (value === false) return ["✘ fail", position === 1 ? "good" : "bad"];
  return [plain(value), tone(position)];
}

/** How far a judge of coding tasks is to be trusted, as its certificate says. */
function trusted(column) {
  return column.trust ? h("span", { class: "tag j-" + column.trust }, column.trust) : null;
}

/** The cell as an element. */
function shownCell(cell) {
  if (!cell) return h("span", { class: "quiet", title: "not asked" }, "-");
  const [words, colour] = said(cell);
  return h("span", {}, h("span", { class: "cell num v-" + colour }, words),
    cell[3] ? h("span", { class: "flag", title: "something in the case tries to instruct the judge" }, " ⚑ flagged") : null);
}

/** Cells that tell how the case went, in one phrase and a colour. */
function outcome(one) {
  let lost = 0, failed = 0, flagged = 0, passed = 0;
  for (const [at, cell] of one.cells.entries()) {
    if (!cell || COLUMNS[at].kind === "reward" || COLUMNS[at].kind === "pairwise") continue;
    if (cell[0] === "u") lost++;
    if (cell[1] === false) failed++;
    if (cell[1] === true) passed++;
    if (cell[3]) flagged++;
  }
  const parts = [];
  if (failed && one.word !== "failed") parts.push(failed + " fail");
  if (lost && one.word !== "unscored") parts.push(lost + " unscored");
  if (flagged) parts.push(flagged + " flagged");
  const ran = !one.state || one.state === "ok";
  const bad = failed || flagged || !ran || GRAVE[one.word] === "bad";
  if (one.word && (GRAVE[one.word] || !parts.length)) parts.unshift(one.word);
  if (!parts.length) parts.push(passed ? "all pass" : one.cells.some((c) => c && c[0] === "s") ? "scored" : "nothing scored");
  if (!ran) parts.unshift("run " + (STATES[one.state] || one.state));
  return [parts.join(", "), bad ? "bad" : lost ? "lost" : GRAVE[one.word] || (passed ? "good" : "")];
}

/** Buttons of which one is pressed; `options` are [name, value], `pick` is told of the value that is chosen. */
function choice(label, options, now, pick) {
  const buttons = options.map(([name, value]) => h("button", { type: "button", "aria-pressed": String(value === now), onclick: () => {
    made.choose(value);
    pick(value);
  } }, name));
  const made = h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
  made.choose = (value) => options.forEach(([, its], at) => buttons[at].setAttribute("aria-pressed", String(its === value)));
  return made;
}

/* Colours: what the system says, unless the button says otherwise. */
(() => {
  const order = ["system", "light", "dark"];
  let now = 0;
  $("theme").addEventListener("click", () => {
    now = (now + 1) % order.length;
    if (now) document.documentElement.dataset.theme = order[now];
    else delete document.documentElement.dataset.theme;
    $("theme").textContent = "Colours: " + order[now];
    $("theme").setAttribute("aria-label", "Colours: " + order[now]);
  });
})();
