/* Two texts line by line. */

const MOST_CELLS = 4e6;

/** [[" " | "-" | "+", line, number before, number after], ...]; null when the texts differ in too many lines. */
function compareLines(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const n = endA - start, m = endB - start;
  if (n * m > MOST_CELLS) return null;
  const width = m + 1, table = new Uint16Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      table[i * width + j] = a[start + i] === b[start + j] ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const found = [];
  for (let k = 0; k < start; k++) found.push([" ", a[k], k + 1, k + 1]);
  let i = 0, j = 0;
  while (i < n || j < m) {
    const x = start + i, y = start + j;
    if (i < n && j < m && a[x] === b[y]) { found.push([" ", a[x], x + 1, y + 1]); i++; j++; }
    else if (i < n && (j >= m || table[(i + 1) * width + j] >= table[i * width + j + 1])) { found.push(["-", a[x], x + 1, 0]); i++; }
    else { found.push(["+", b[y], 0, y + 1]); j++; }
  }
  for (let k = 0; endA + k < a.length; k++) found.push([" ", a[endA + k], endA + k + 1, endB + k + 1]);
  return found;
}

/** The lines within three of a change, and `{gap}` for each run of equal lines between them. */
function changes(lines) {
  const near = new Uint8Array(lines.length), found = [];
  lines.forEach(([mark], at) => {
    if (mark !== " ") near.fill(1, Math.max(0, at - 3), at + 4);
  });
  let gap = 0, count = 0;
  const close = () => { if (gap) found.push({ gap }); gap = 0; };
  lines.forEach((line, at) => {
    if (!near[at]) { gap++; return; }
    close();
    if (++count <= MOST_LINES) found.push(line);
  });
  close();
  return [found, count > MOST_LINES];
}

const MOST_LINES = 3000;
const WORDS = { "+": "added", "-": "removed" }, CLASS = { "+": "add", "-": "del" };
const marked = (mark) => h("td", { class: "mark " + (CLASS[mark] || ""), "aria-label": WORDS[mark] || null }, mark === " " ? "" : mark);
const gapRow = (gap, columns) => h("tr", { class: "gap" }, h("td", { colspan: columns }, `${gap} equal lines`));
const widths = (...names) => h("colgroup", {}, names.map((name) => h("col", { class: name || null })));

/** One text below the other: what is gone before what is new. */
function unified(found) {
  return h("table", { class: "one" }, widths("ln", "ln", "mark", ""), h("tbody", {}, found.map((line) => {
    if (line.gap) return gapRow(line.gap, 4);
    const [mark, text, x, y] = line;
    return h("tr", { class: CLASS[mark] || null }, h("td", { class: "ln" }, x ? String(x) : ""), h("td", { class: "ln" }, y ? String(y) : ""),
      marked(mark), h("td", {}, text));
  })));
}

/** Both texts in columns of their own: the lines of a change beside each other. */
function sideBySide(found, names) {
  const rows = [], side = (line, mark, number) => (line ? [h("td", { class: "ln" }, String(line[number])), marked(mark),
    h("td", { class: CLASS[mark] || null }, line[1])] : [h("td", { class: "none", colspan: 3 })]);
  let gone = [], made = [];
  const close = () => {
    for (let k = 0; k < Math.max(gone.length, made.length); k++) rows.push(h("tr", {}, side(gone[k], "-", 2), side(made[k], "+", 3)));
    gone = []; made = [];
  };
  for (const line of found) {
    if (line[0] === "-") { gone.push(line); continue; }
    if (line[0] === "+") { made.push(line); continue; }
    close();
    rows.push(line.gap ? gapRow(line.gap, 6) : h("tr", {}, side(line, " ", 2), side(line, " ", 3)));
  }
  close();
  return h("table", { class: "two" }, widths("ln", "mark", "", "ln", "mark", ""),
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", colspan: 3 }, name)))), h("tbody", {}, rows));
}

const NARROW = matchMedia("(max-width: 800px)");
let columns = false;

/** The comparison as a table: changed lines with three lines around them, one text below the other or both side by
    side, as was last chosen; always the former where there is no room. `names` say what before and after are. */
function shownDiff(before, after, names) {
  const lines = compareLines(before, after);
  if (!lines) return h("p", { class: "cutnote" }, "The two differ in too many lines to be set side by side here.");
  const added = lines.filter(([mark]) => mark === "+").length, removed = lines.filter(([mark]) => mark === "-").length;
  if (!added && !removed) return h("p", { class: "quiet" }, `The same as ${names[0]}.`);
  const [found, more] = changes(lines);
  const view = h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": `${names[1]} beside ${names[0]}` });
  const group = choice("How the differences are laid out", [["Unified", false], ["Side by side", true]], columns, (two) => {
    columns = two;
    redraw();
  });
  view.redraw = () => {
    const two = columns && !NARROW.matches;
    group.choose(columns);
    group.hidden = NARROW.matches;
    view.replaceChildren(two ? sideBySide(found, names) : unified(found));
  };
  view.redraw();
  return h("div", {}, h("p", { class: "quiet" }, `${removed} lines of ${names[0]} are gone (-), ${added} are new in ${names[1]} (+).`,
    more ? ` The first ${MOST_LINES} lines are shown.` : ""), group, view);
}

/** Every comparison that is open, drawn anew. */
function redraw() {
  for (const view of document.querySelectorAll("#case .diff")) view.redraw?.();
}

NARROW.addEventListener("change", redraw);
