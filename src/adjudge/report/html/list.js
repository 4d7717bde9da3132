/* The list of cases: filters, order, the few rows in sight, keys, and the fragment that holds it all. */

const ROW = 34, AROUND = 12;
const KEYS = ["q", "judge", "class", "min", "max", "kind", "word", "exec", "tag", "sort"];
const CLASSES = { "": "any verdict", pass: "pass", fail: "fail", range: "number in a range", unscored: "unscored",
  abstained: "abstained", skipped: "skipped", flagged: "flagged" };
const HAS_RUNS = CASES.some((one) => one.state), HAS_COST = CASES.some((one) => one.cost !== null);
const HAS_TIME = CASES.some((one) => one.seconds !== null);
let state = {}, shown = CASES, current = -1, printing = false;

function hitsCell(cell) {
  if (!cell) return false;
  const [status, value, , flagged] = cell;
  if (state.kind && !(status === "u" && value === state.kind)) return false;
  switch (state.class) {
    case "pass": return value === true || (status === "s" && value === "win");
    case "fail": return value === false || (status === "s" && value === "loss");
    case "unscored": return status === "u";
    case "abstained": return status === "a";
    case "skipped": return status === "k";
    case "flagged": return Boolean(flagged);
    case "range": return status === "s" && typeof value === "number" &&
      !(state.min && value < Number(state.min)) && !(state.max && value > Number(state.max));
    default: return true;
  }
}

function hits(one) {
  if (state.exec && !(state.exec === "bad" ? one.state && one.state !== "ok" : one.state === state.exec)) return false;
  if (state.word && one.word !== state.word) return false;
  if (state.tag && !one.tags.includes(state.tag)) return false;
  if (state.judge || state.class || state.kind) {
    const columns = state.judge ? COLUMNS.filter((c) => c.name === state.judge) : COLUMNS;
    if (!columns.some((c) => hitsCell(one.cells[c.at]))) return false;
  }
  if (!state.q) return true;
  const text = state.q.toLowerCase();
  return one.id.toLowerCase().includes(text) || (one.low || "").includes(text);
}

/** A key to sort by: errors before low values before high ones; what was not asked is always last. */
function sortKey(one, by) {
  if (by === "cost" || by === "time") return (by === "cost" ? one.cost : one.seconds) ?? null;
  const cell = one.cells[Number(by)];
  if (!cell || cell[0] === "k") return null;
  if (cell[0] === "u") return -Infinity;
  if (cell[0] === "a") return -1e308;
  if (typeof cell[1] === "number" || typeof cell[1] === "boolean") return Number(cell[1]);
  return cell[2] ?? cell[1];
}

function sorted(list) {
  if (!state.sort) return list;
  const down = state.sort.startsWith("-"), by = state.sort.replace(/^-/, "");
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const keyed = list.map((one) => [by === "id" ? one.id : sortKey(one, by), one]);
  keyed.sort(([x, a], [y, b]) => {
    if (x === null || y === null) return x === y ? a.at - b.at : x === null ? 1 : -1;
    const order = typeof x === "number" && typeof y === "number" ? (x < y ? -1 : x > y ? 1 : 0) : compare(String(x), String(y));
    return (down ? -order : order) || a.at - b.at;
  });
  return keyed.map(([, one]) => one);
}

/** Filter and sort anew, and say how many are left. */
function refresh() {
  const held = shown[current];
  shown = sorted(CASES.filter(hits));
  current = held ? shown.indexOf(held) : -1;
  $("shown").textContent = shown.length === CASES.length ? `${CASES.length.toLocaleString("en")} cases`
    : `${shown.length.toLocaleString("en")} of ${CASES.length.toLocaleString("en")} cases shown`;
  head();
  $("list").scrollTop = 0;
  draw(true);
}

function head() {
  const cells = [["id", "Case"]];
  if (HAS_RUNS) cells.push(["", "Agent's run"]);
  cells.push(["", "Outcome"], ...COLUMNS.map((c) => [String(c.at), c.name, c]));
  if (HAS_COST) cells.push(["cost", "Cost"]);
  if (HAS_TIME) cells.push(["time", "Time"]);
  const by = (state.sort || "").replace(/^-/, ""), down = (state.sort || "").startsWith("-");
  const focused = document.activeElement?.dataset?.sort;
  $("grid").tHead.replaceChildren(h("tr", { "aria-rowindex": 1 }, cells.map(([key, name, column]) => key === "" ? h("th", { scope: "col" }, name)
    : h("th", { scope: "col", "aria-sort": by === key && state.sort ? (down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", "data-sort": key, title: "Sort by " + visible(name), onclick: () => {
        set({ sort: by !== key || !state.sort ? key : down ? "" : "-" + key });
      } }, name, by === key && state.sort ? (down ? " ▼" : " ▲") : ""), column?.trust ? [" ", trusted(column)] : null))));
  if (focused) $("grid").tHead.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
  $("grid").setAttribute("aria-rowcount", shown.length + 1);
}

function line(one, at) {
  const [words, colour] = outcome(one);
  return h("tr", { class: "row" + (colour ? " o-" + colour : "") + (at === current ? " now" : ""), "aria-rowindex": at + 2,
    "data-at": at, onclick: (event) => { if (!event.target.closest("a")) { current = at; set({ case: one.id }); } } },
  h("th", { scope: "row" }, h("a", { href: "#case=" + encodeURIComponent(one.id.toWellFormed?.() ?? one.id), title: visible(one.id),
    onclick: (event) => { event.preventDefault(); current = at; set({ case: one.id }); } }, one.id)),
  HAS_RUNS ? h("td", {}, one.state ? h("span", { class: "tag s-" + one.state }, (one.state === "ok" ? "" : "⚠ ") + (STATES[one.state] || one.state)) : "") : null,
  h("td", { class: colour === "lost" ? "v-lost" : colour ? "v-" + colour : null }, words),
  one.cells.map((cell) => h("td", {}, shownCell(cell))),
  HAS_COST ? h("td", { class: "num" }, money(one.cost) || h("span", { class: "quiet" }, "unknown")) : null,
  HAS_TIME ? h("td", { class: "num" }, duration(one.seconds)) : null);
}

let drawn = [-1, -1];
/** The rows in sight and a few around them; two empty rows stand for the rest. */
function draw(anew) {
  const list = $("list"), top = Math.max(0, list.scrollTop - 34);
  let first = Math.max(0, Math.floor(top / ROW) - AROUND);
  let last = Math.min(shown.length, Math.ceil((top + innerHeight * 0.72) / ROW) + AROUND);
  if (printing) { first = 0; last = Math.min(shown.length, 1000); }
  if (!anew && drawn[0] === first && drawn[1] === last) return;
  drawn = [first, last];
  const columns = 2 + COLUMNS.length + HAS_RUNS + HAS_COST + HAS_TIME;
  const pad = (rows) => {
    const made = h("tr", { class: "pad", "aria-hidden": "true" }, h("td", { colspan: columns }));
    made.firstChild.style.height = rows * ROW + "px";
    return made;
  };
  const rows = [];
  if (first) rows.push(pad(first));
  for (let at = first; at < last; at++) rows.push(line(shown[at], at));
  if (printing && last < shown.length) rows.push(h("tr", {}, h("td", { colspan: columns }, `${shown.length - last} more cases are not printed.`)));
  else if (last < shown.length) rows.push(pad(shown.length - last));
  const held = document.activeElement?.closest?.("#grid tbody tr")?.dataset.at;
  $("grid").tBodies[0].replaceChildren(...rows);
  if (held !== undefined) rowAt(Number(held))?.querySelector("a")?.focus({ preventScroll: true });
}

const rowAt = (at) => $("grid").tBodies[0].querySelector(`tr[data-at="${at}"]`);

/** Make a row the current one, in sight and focused. */
function go(at, focus) {
  if (!shown.length) return;
  current = Math.max(0, Math.min(shown.length - 1, at));
  const list = $("list"), top = current * ROW, room = Math.max(ROW, list.clientHeight - 50);
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + room) list.scrollTop = top + ROW - room + 4;
  draw(true);
  if (focus) rowAt(current)?.querySelector("a")?.focus({ preventScroll: true });
}

/* ---- state and fragment ---- */
function read() {
  const given = new URLSearchParams(location.hash.slice(1)), found = {};
  for (const key of [...KEYS, "case"]) if (given.get(key)) found[key] = given.get(key);
  return found;
}

function write() {
  const said = new URLSearchParams();
  for (const key of [...KEYS, "case"]) if (state[key]) said.set(key, state[key].toWellFormed?.() ?? state[key]);
  const text = said.toString().replace(/\+/g, "%20");
  if (text === location.hash.slice(1)) return;
  try { history.replaceState(null, "", "#" + text); } catch { location.hash = text; }
}

/** Take a change of the state: only what it touches is drawn again. */
function set(change) {
  const before = state;
  state = { ...state, ...change };
  write();
  apply(before);
}

function apply(before) {
  for (const key of KEYS) {
    const field = $("f-" + key);
    if (field && field !== document.activeElement) field.value = state[key] || "";
    if (field?.tagName === "SELECT" && field.value !== (state[key] || "")) { field.value = ""; delete state[key]; }
  }
  for (const label of document.querySelectorAll("#filters .range")) label.hidden = state.class !== "range";
  if (!before || KEYS.some((key) => (before[key] || "") !== (state[key] || ""))) refresh();
  if ((before?.case || "") === (state.case || "")) return;
  if (state.case && BY_ID.has(state.case)) {
    const at = shown.indexOf(BY_ID.get(state.case));
    if (at >= 0) go(at, false);
    openCase(BY_ID.get(state.case));
  } else if (state.case) missingCase(state.case);
  else closeCase();
}

function options(id, pairs) {
  $(id).replaceChildren(...pairs.map(([value, name]) => h("option", { value }, name)));
  $(id).closest("label").hidden = pairs.length < 2;
}

function start() {
  const kinds = new Set();
  for (const one of CASES) for (const cell of one.cells) if (cell && cell[0] === "u") kinds.add(cell[1]);
  const runs = Object.entries(STATES).filter(([key]) => CASES.some((one) => one.state === key));
  options("f-judge", [["", "any judge"], ...COLUMNS.map((c) => [c.name, c.name])]);
  options("f-class", Object.entries(CLASSES));
  options("f-kind", [["", "any kind"], ...[...kinds].sort().map((kind) => [kind, kind])]);
  options("f-word", STANDING.size ? [["", "any"], ...[...new Set(CASES.map((one) => one.word))].filter(Boolean).map((word) => [word, word])] : [["", "any"]]);
  options("f-exec", runs.length ? [["", "any"], ["bad", "all that ended badly"], ...runs] : [["", "any"]]);
  options("f-tag", [["", "any tag"], ...INDEX.tags.map((tag) => [tag, tag])]);
  $("filters").hidden = $("list").hidden = false;
  let wait = 0;
  $("filters").addEventListener("input", (event) => {
    const key = event.target.id.slice(2);
    clearTimeout(wait);
    wait = setTimeout(() => set({ [key]: event.target.value }), event.target.type === "search" ? 120 : 0);
  });
  $("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    set(Object.fromEntries(KEYS.map((key) => [key, ""])));
    for (const field of $("filters").elements) if (field.id.startsWith("f-")) field.value = "";
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  let waiting = false;
  $("list").addEventListener("scroll", () => {
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(false); }); }
  }, { passive: true });
  addEventListener("resize", () => draw(true));
  addEventListener("hashchange", () => { const before = state; state = read(); apply(before); });
  for (const jump of document.querySelectorAll("[data-jump]")) {
    jump.addEventListener("click", (event) => {
      event.preventDefault();
      const hash = jump.getAttribute("href");
      if (hash.includes("=")) {
        const before = state;
        history.replaceState(null, "", hash);
        state = read();
        apply(before);
      }
      $("cases").scrollIntoView();
      $("cases").focus({ preventScroll: true });
    });
  }
  addEventListener("keydown", pressed);
  addEventListener("click", (event) => {  // beside the open case, where everything is inert
    if (!$("case").hidden && !$("case").contains(event.target)) set({ case: "" });
  }, true);
  const paper = matchMedia("print"), shut = [];
  const print = (on) => {
    if (on === printing) return;
    printing = on;
    for (const part of on ? document.querySelectorAll("details:not([open])") : shut.splice(0)) {
      if (part.closest("#case .heavy")) continue;
      part.open = on;
      if (on) shut.push(part);
    }
    draw(true);
  };
  paper.addEventListener("change", () => print(paper.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  state = read();
  apply(null);
  learn();
}

/** Unpack what can be searched, then search again. */
async function learn() {
  if (STALE) { $("f-q").placeholder = "ids only: this browser cannot unpack the rationales"; return; }
  for (const part of document.querySelectorAll("[id^=t][data-chunk]")) {
    const at = Number(part.id.slice(1)) * Number(part.dataset.chunk);
    (await unpack(part.id)).forEach((said, k) => {
      const one = CASES[at + k];
      one.said = new Map(said);
      one.low = said.map(([, text]) => (Array.isArray(text) ? text[0] : text)).join("\n").toLowerCase();
    });
  }
  document.documentElement.dataset.ready = "true";
  if (state.q) refresh();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Tab") { if (!$("case").hidden) keepFocus(event); return; }
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
  const open = !$("case").hidden;
  if (event.key === "Escape") {
    if (open) set({ case: "" });
    else if (typing) document.activeElement.blur();
    return;
  }
  if (typing) return;
  const inList = document.activeElement === document.body || document.activeElement?.closest("#cases");
  const step = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "/") { event.preventDefault(); if (open) set({ case: "" }); $("f-q").focus(); $("f-q").select(); }
  else if (step && event.key.length === 1 || step && inList && !open) {
    event.preventDefault();
    go(current + step, !open);
    if (open && shown[current]) set({ case: shown[current].id });
  } else if (event.key === "Enter" && current >= 0 && document.activeElement === document.body && !open) {
    event.preventDefault();
    set({ case: shown[current].id });
  }
}

start();
