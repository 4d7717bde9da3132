/* One case, opened. */

let opened = null;

/** The shown part of a text, and what is not shown when it was cut. */
function shownText(text) {
  const [part, total, where] = Array.isArray(text) ? text : [text, null, ""];
  return [h("pre", { class: "box", tabindex: "0" }, part), total === null ? null : h("p", { class: "cutnote" },
    `Cut: the first ${part.length.toLocaleString("en")} of ${total.toLocaleString("en")} characters are shown.`,
    where ? ` The whole is in ${where}.` : "")];
}

const whole = (text) => (Array.isArray(text) ? text[0] : text);

function facts(pairs) {
  const kept = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return kept.length ? h("dl", { class: "facts" }, kept.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])) : null;
}

/** A part that opens; its content is made when it does. */
function part(title, make, open) {
  const made = h("details", { class: "part heavy" }, h("summary", {}, title));
  const fill = () => { if (made.open && made.children.length === 1) made.append(h("div", {}, make())); };
  made.addEventListener("toggle", fill);
  if (open) { made.open = true; fill(); }
  return made;
}

function tokens(usage) {
  if (!usage) return "";
  const input = (usage.input || 0) + (usage.cache_read || 0) + (usage.cache_write || usage.cache_create || 0);
  return `${input.toLocaleString("en")} in, ${(usage.output || 0).toLocaleString("en")} out`;
}

/** A judge's words: plain where they are short, else as a text. */
function words(text) {
  return typeof text === "string" && text.length < 300 && !text.includes("\n") ? h("p", { class: "why" }, text) : shownText(text);
}

/** Every verdict, those that went wrong first. */
function verdicts(one, doc) {
  const asked = COLUMNS.filter((c) => one.cells[c.at] && c.kind !== "reward" && c.kind !== "pairwise");
  const wrong = (c) => ["bad", "lost"].includes(said(one.cells[c.at])[1]);
  return [...asked.filter(wrong), ...asked.filter((c) => !wrong(c))].map((c) => {
    const cell = one.cells[c.at], more = doc.scores?.[c.at] || {}, colour = said(cell)[1];
    const text = one.said?.get(c.at);
    return h("div", { class: "verdict e-" + colour },
      h("div", {}, h("strong", {}, c.name), shownCell(cell), trusted(c), more.beside ? h("span", {}, more.beside) : null, h("span", { class: "quiet" }, c.kind,
        more.model ? ", " + more.model : "", more.usage?.cost_usd !== undefined && more.usage?.cost_usd !== null ? ", " + money(more.usage.cost_usd) : "")),
      text ? words(text) : h("p", { class: "quiet" }, STALE ? "The rationale cannot be unpacked by this browser." : "No rationale."),
      facts([["agreement of samples", more.agreement === undefined ? "" : Math.round(more.agreement * 100) + "%"],
        ["confidence", more.confidence === undefined ? "" : plain(more.confidence)],
        ["the judge said", cell[3] && more.raw !== undefined ? String(more.raw) : ""],
        ["exit status", more.exit_code], ["verdict's tool", more.tool_choice],
        ["calls refused", more.denials ? Object.entries(more.denials).map(([k, v]) => `${k} ${v}`).join(", ") : ""],
        ["tokens", tokens(more.usage)]]),
      (more.notes || []).map((note) => h("p", { class: "cutnote" }, "Note: ", whole(note))),
      more.printed ? part("What it printed", () => shownText(more.printed)) : null,
      more.samples ? h("details", { class: "part" }, h("summary", {}, `${more.samples.length} samples: `,
        more.samples.map(([s, v, e]) => said([s, s === "u" ? e : v])[0]).join(", ")),
        h("ol", {}, more.samples.map(([status, value, error, why]) => h("li", {}, shownCell([status, status === "u" ? error : value]),
          whole(why) ? words(why) : null)))) : null);
  });
}

function file([name, content, kind], doc) {
  if (content && content.binary !== undefined) {
    const size = content.size.toLocaleString("en");
    return part(name, () => [content.image ? shownImage(name, content.image) : h("p", {}, `A binary file of ${size} bytes; it is not shown here.`),
      facts([["bytes", content.image ? size : ""]]), facts([["path", content.binary], ["SHA-256", content.sha256]])], true);
  }
  const others = [];
  const before = (doc.baseline || []).find(([other]) => other === name);
  if (doc.baseline) others.push(["the baseline", before ? before[1] === 0 ? content : before[1] : ""]);
  for (const [key, text] of doc.references || []) others.push([`the reference ${key}`, text]);
  const comparable = others.filter(([, text]) => typeof text === "string" || Array.isArray(text));
  return part(`${name} (${(Array.isArray(content) ? content[1] : content.length).toLocaleString("en")} characters)`, () => {
    const place = h("div", {});
    const show = (at) => {
      const other = comparable[at];
      place.replaceChildren(...(other ? [Array.isArray(content) || Array.isArray(other[1])
        ? h("p", { class: "cutnote" }, "Only the parts that are shown are compared: a text was cut.") : "",
      shownDiff(whole(other[1]), whole(content), [other[0], "the output"])].filter(Boolean) : shownOutput(kind, content).filter(Boolean)));
    };
    const first = before && before[1] !== 0 && typeof before[1] !== "undefined" && comparable.length ? 0 : -1;
    show(first);
    if (!comparable.length) return place;
    const pick = h("select", { onchange: () => show(Number(pick.value)) }, h("option", { value: -1 }, "nothing: the text itself"),
      comparable.map(([label], at) => h("option", { value: at }, label)));
    pick.value = first;
    return [h("label", { class: "quiet" }, "Compare with ", pick), place];
  }, true);
}

const EVENTS = { text: "assistant", thinking: "thinking", call: "call", result: "result", error: "✘ error", end: "end", other: "event" };

function trajectory(events) {
  const made = [];
  events.items.forEach(([kind, title, text], at) => {
    if (events.after === at) made.push(h("p", { class: "cutnote" }, `Cut: ${events.total - events.items.length} of ${events.total} events are left out here.`,
      events.where ? ` The whole is in ${events.where}.` : ""));
    made.push(h("div", { class: "event " + kind }, h("span", { class: "kind" }, EVENTS[kind], title ? " " + title : ""), text ? h("pre", {}, text) : null));
  });
  return made;
}

function reward(one) {
  const value = one.score === undefined || one.score === null ? h("span", { class: "cell v-lost" }, "no value") : h("b", { class: "num" }, plain(one.score));
  return h("li", {}, one.name, ": ", value, one.gated ? ` (the gate ${one.gated} failed)` : "", one.failure ? ` ${one.failure}` : "",
    one.flagged ? " ⚑ flagged" : "", (one.warnings || []).map((text) => h("div", { class: "cutnote" }, text)),
    one.parts?.length ? h("div", { class: "quiet" }, one.parts.map((p) => `${p.judge}.${p.criterion} x ${plain(p.weight ?? 1)}`).join(", ")) : null,
    one.inputs?.length ? h("ul", {}, one.inputs.map(reward)) : null);
}

function pair([name, found]) {
  return h("div", { class: "verdict" }, h("div", {}, h("strong", {}, name), found.winner ? h("span", { class: "cell" },
    found.winner === "run" ? "win" : found.winner === "baseline" ? "loss" : "tie", found.flipped ? " (flipped with the order)" : "")
    : h("span", { class: "cell v-lost" }, "unscored: " + (found.failure || "no answer"))),
  found.orders.map(([order, preferred, why, failure]) => h("div", {}, h("p", { class: "quiet" }, `${order.replace("_", " ")}: `, preferred || failure || "no answer"),
    whole(why) ? shownText(why) : null)));
}

function run(found, one) {
  const steps = (found.steps || []).map((step) => h("li", {}, `${step.id || "run"}: `, h("span", { class: "tag s-" + step.state }, STATES[step.state]),
    ` ${duration(step.duration_s)}`, whole(step.error) ? shownText(step.error) : null, whole(step.output) ? part("what it said last", () => shownText(step.output)) : null));
  return [h("h3", {}, "The agent's run"), h("p", {}, h("span", { class: "tag s-" + found.state }, (found.state === "ok" ? "" : "⚠ ") + STATES[found.state])),
    found.error ? shownText(found.error) : null,
    facts([["kind of failure", found.kind], ["exit status", found.exit_code], ["time", duration(found.duration_s)],
      ["turns", found.num_turns], ["tokens", tokens(found.token_usage)], ["stopped at step", found.aborted_at_step],
      ["refused calls", found.permission_denials?.length], ["changed in the project", (found.repo_modified || []).join(", ")],
      ["collected", Object.entries(found.collected || {}).map(([k, v]) => `${k}: ${v}`).join(", ")]]),
    (found.notes || []).map((note) => h("p", { class: "cutnote" }, note)), steps.length > 1 || found.state !== "ok" ? h("ol", {}, steps) : null];
}

function body(one, doc) {
  const made = [], metrics = doc.metrics || {};
  const section = (title, ...content) => { if (content.flat(Infinity).some(Boolean)) made.push(h("h3", {}, title), ...content.flat(Infinity).filter(Boolean)); };
  if (doc.problem) made.push(h("p", { class: "v-lost" }, "Its files cannot be shown: ", doc.problem));
  if (doc.run) made.push(...run(doc.run, one).flat(Infinity).filter(Boolean));
  const [agent, judging] = doc.cost || [];
  const known = facts([["cost of the agent", money(agent)], ["cost of judging", money(judging)],
    ["time", doc.run ? "" : duration(metrics.duration_s)], ["exit status", doc.run ? "" : metrics.exit_code],
    ["turns", doc.run ? "" : metrics.num_turns], ["tokens", doc.run ? "" : tokens(metrics.token_usage)],
    ["tags", one.tags.join(", ")], ["folder", doc.directory]]);
  if (known) made.push(known);
  (doc.notes || []).forEach((note) => made.push(h("p", { class: "cutnote" }, "Note: ", whole(note))));
  section("Scores", verdicts(one, doc));
  if (doc.rewards) section("Rewards", h("ul", {}, doc.rewards.map(reward)));
  section("Beside the baseline", (doc.pairwise || []).map(pair));
  const pairs = (list, open) => (list || []).map(([key, text]) => part(key, () => shownText(text), open || whole(text).length < 600));
  section("What people know and said", pairs(doc.annotations, false), pairs(doc.references, false));
  section("Inputs", pairs(doc.inputs, true));
  section("Outputs", (doc.outputs || []).map((one) => file(one, doc)),
    (doc.baseline || []).filter(([name]) => !(doc.outputs || []).some(([other]) => other === name))
      .map(([name, text]) => part(`${name} (only in the baseline)`, () => text.binary === undefined ? shownText(text) : "a binary file")));
  if (doc.events) section("Trajectory", part(`${doc.events.total} events`, () => trajectory(doc.events), true));
  if (doc.stdout || doc.stderr) section("Streams", doc.stdout ? part("stdout", () => shownText(doc.stdout)) : null, doc.stderr ? part("stderr", () => shownText(doc.stderr)) : null);
  section("Prompts and replies", (doc.exchanges || []).map((e) => part(
    `${e.judge}${e.criteria?.length && String(e.criteria) !== e.judge ? ` (${e.criteria.join(", ")})` : ""}, sample ${(e.sample || 0) + 1}${e.model ? ", " + e.model : ""}` +
    `${e.cost_usd !== undefined && e.cost_usd !== null ? ", " + money(e.cost_usd) : ""}${e.seconds ? ", " + duration(e.seconds) : ""}`,
    () => [h("h4", {}, "Prompt"), shownText(e.prompt), h("h4", {}, "Reply"), shownText(e.reply)])));
  if (!INDEX.details) made.push(h("p", { class: "quiet" }, "This report was made without the inputs and outputs of its cases."));
  return made;
}

const AROUND_CASE = () => document.querySelectorAll("body > :not(#case, script, style)");
let openedBy = null;

/** Everything within the open case that Tab stops at, in order. */
function stops() {
  return [...$("case").querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter((one) => !one.disabled && one.getClientRects().length);
}

/** Tab goes round within the open case, and never to the page behind it. */
function keepFocus(event) {
  const every = stops(), now = document.activeElement, at = every.indexOf(now);
  const inside = $("case").contains(now);
  if (inside && (event.shiftKey ? at > 0 : at < every.length - 1 && (at >= 0 || now === $("case-title")))) return;
  event.preventDefault();
  every.at(event.shiftKey ? -1 : 0)?.focus();
}

function frame(title, ...content) {
  const panel = $("case"), at = opened ? shown.indexOf(opened) : -1;
  const step = (by) => { if (shown[at + by]) { go(at + by, false); set({ case: shown[at + by].id }); } };
  panel.replaceChildren(h("header", {}, h("h2", { id: "case-title", tabindex: "-1" }, title),
    h("button", { type: "button", "aria-label": "Previous case", disabled: at <= 0, onclick: () => step(-1) }, "↑"),
    h("button", { type: "button", "aria-label": "Next case", disabled: at < 0 || at >= shown.length - 1, onclick: () => step(1) }, "↓"),
    h("button", { type: "button", "aria-label": "Close the case", onclick: () => set({ case: "" }) }, "✕ Close")),
  h("div", { id: "case-body" }, content));
  if (panel.hidden) openedBy = [opened, document.activeElement];
  panel.hidden = false;
  for (const other of AROUND_CASE()) other.inert = true;
  panel.scrollTop = 0;
  $("case-title").focus({ preventScroll: true });
}

async function openCase(one) {
  opened = one;
  frame(one.id, h("p", { role: "status" }, "Opening..."));
  let doc = {};
  const trouble = [];
  if (STALE) {
    trouble.push(h("p", { class: "v-lost" }, "This browser cannot unpack the details (it has no DecompressionStream). The scores are below; result.json has the rest."));
  } else {
    try {
      const chunk = Number($("t0").dataset.chunk), id = "t" + Math.floor(one.at / chunk);
      const texts = (await unpack(id))[one.at % chunk];
      one.said = new Map(texts);
      doc = await unpack("d" + one.at);
    } catch (error) { trouble.push(h("p", { class: "v-lost" }, "The details of this case cannot be unpacked: " + error)); }
  }
  if (opened === one) $("case-body").replaceChildren(...[trouble, body(one, doc)].flat(Infinity).filter(Boolean));
}

function missingCase(id) {
  opened = null;
  frame(id, h("p", { class: "v-lost" }, "No case of this run has this id."));
}

/** Close it; the focus goes back to its row, or to the link elsewhere that opened it. */
function closeCase() {
  const was = opened, [first, link] = openedBy || [];
  opened = openedBy = null;
  $("case").hidden = true;
  $("case").replaceChildren();
  for (const other of AROUND_CASE()) other.inert = false;
  const at = was ? shown.indexOf(was) : -1;
  const outside = link?.isConnected && link !== document.body && !link.closest("#grid");
  if (at >= 0) go(at, !(outside && first === was));
  if (outside && (first === was || at < 0)) link.focus();
  else if (at < 0) $("cases").focus({ preventScroll: true });
}
