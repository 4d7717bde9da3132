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

/** The comparison as a table: changed lines with three lines around them. `names` say what before and after are. */
function shownDiff(before, after, names) {
  const lines = compareLines(before, after);
  if (!lines) return h("p", { class: "cutnote" }, "The two differ in too many lines to be set side by side here.");
  const near = new Uint8Array(lines.length);
  let added = 0, removed = 0;
  lines.forEach(([mark], at) => {
    if (mark === " ") return;
    if (mark === "+") added++; else removed++;
    for (let k = Math.max(0, at - 3); k <= Math.min(lines.length - 1, at + 3); k++) near[k] = 1;
  });
  if (!added && !removed) return h("p", { class: "quiet" }, `The same as ${names[0]}.`);
  const rows = [];
  let gap = 0, count = 0;
  const close = () => { if (gap) rows.push(h("tr", { class: "gap" }, h("td", { colspan: 4 }, `${gap} equal lines`))); gap = 0; };
  lines.forEach(([mark, line, x, y], at) => {
    if (!near[at]) { gap++; return; }
    close();
    if (++count > 3000) return;
    const word = mark === "+" ? "added" : mark === "-" ? "removed" : "";
    rows.push(h("tr", { class: mark === "+" ? "add" : mark === "-" ? "del" : null },
      h("td", { class: "ln" }, x ? String(x) : ""), h("td", { class: "ln" }, y ? String(y) : ""),
      h("td", { class: "mark", "aria-label": word || null }, mark), h("td", {}, line)));
  });
  close();
  return h("div", {}, h("p", { class: "quiet" }, `${removed} lines of ${names[0]} are gone (-), ${added} are new in ${names[1]} (+).`,
    count > 3000 ? ` The first 3000 lines are shown.` : ""),
    h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": `${names[1]} beside ${names[0]}` }, h("table", {},
      h("colgroup", {}, h("col", { class: "ln" }), h("col", { class: "ln" }), h("col", { class: "mark" }), h("col", {})), h("tbody", {}, rows))));
}
