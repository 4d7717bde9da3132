/* An output by its kind. All of it is text nodes in elements made here: no link, no markup of its own, nothing loaded. */

const MOST_FORMATTED = 200000, MOST_ROWS = 500, MOST_NUMBERED = 5000, DEEPEST = 8;

/** The text with its structure shown; null where it has none that can be read. */
function formatted(kind, text) {
  if (text.length > MOST_FORMATTED) return null;
  switch (kind) {
    case "json": case "graph": return prettyJson(text);
    case "metrics": return metricsTable(text) || prettyJson(text);
    case "markdown": return h("div", { class: "box md", tabindex: "0" }, blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
    case "code": return numbered(text);
    default: return null;
  }
}

/** JSON, indented as it is written: no number is rounded, no key that comes twice is lost. */
function prettyJson(text) {
  try { JSON.parse(text); } catch { return null; }
  const parts = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [], made = [];
  let depth = 0;
  const newline = () => made.push("\n", "  ".repeat(Math.min(depth, 40)));
  parts.forEach((token, at) => {
    const last = parts[at - 1];
    if (token === "}" || token === "]") { depth--; if (last !== "{" && last !== "[") newline(); }
    else if (last === "{" || last === "[" || last === ",") newline();
    made.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth++;
  });
  return h("pre", { class: "box", tabindex: "0" }, made.join(""));
}

/** Names and values: of a JSON object, or of lines such as `name: 1`. */
function metricsTable(text) {
  const rows = [];
  const add = (name, value, depth) => {
    if (rows.length >= MOST_ROWS) return;
    if (value && typeof value === "object" && depth < DEEPEST) {
      for (const [key, item] of Object.entries(value)) add(name ? `${name}.${key}` : key, item, depth + 1);
    } else rows.push([name, typeof value === "string" ? value : JSON.stringify(value)]);
  };
  try {
    const found = JSON.parse(text);
    if (!found || typeof found !== "object") return null;
    add("", found, 0);
  } catch {
    for (const line of text.split("\n").filter((one) => one.trim())) {
      const at = line.search(/[:=]/), name = line.slice(0, at).trim();
      if (at < 1 || !name || name.length > 200) return null;
      add(name, line.slice(at + 1).trim(), DEEPEST);
    }
  }
  if (!rows.length) return null;
  return h("div", { class: "box", tabindex: "0" }, h("table", { class: "metrics" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"), h("th", { scope: "col" }, "Value"))),
    h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "num" }, value))))),
  rows.length >= MOST_ROWS ? h("p", { class: "cutnote" }, `The first ${MOST_ROWS} are shown.`) : null);
}

function numbered(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length > MOST_NUMBERED) return null;
  return h("pre", { class: "box code", tabindex: "0" }, lines.map((line) => h("span", { class: "l" }, line + "\n")));
}

const MARKS = /(`{1,3})([^`]{1,500}?)\1|\*\*([^*\n]{1,500})\*\*|\*([^*\s][^*\n]{0,500})\*|!?\[([^[\]\n]{0,300})\]\(([^()\s]{1,500})\)/g;

/** Code, bold and emphasis within a line; a link is its words, then where it leads as text. */
function inline(text) {
  const made = [];
  let from = 0;
  for (const found of text.matchAll(MARKS)) {
    made.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[1]) made.push(h("code", {}, found[2]));
    else if (found[3]) made.push(h("strong", {}, found[3]));
    else if (found[4]) made.push(h("em", {}, found[4]));
    else made.push(found[0][0] === "!" ? `[image: ${found[5]}]` : found[5], h("span", { class: "quiet" }, ` (${found[6]})`));
  }
  made.push(text.slice(from));
  return made;
}

const FENCE = /^ {0,3}(```+|~~~+)/, HEADING = /^ {0,3}(#{1,6})\s+(.*)$/, QUOTE = /^ {0,3}> ?/, RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])\s+/, DIVIDER = /^ *\|? *:?-+:? *(\| *:?-+:? *)+\|? *$/;
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

/** The blocks of Markdown that people write most; whatever else stays as it is written. */
function blocks(lines, depth) {
  const made = [];
  let at = 0;
  const take = (wanted) => {
    const from = at;
    while (at < lines.length && wanted(lines[at], at - from)) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at], fence = line.match(FENCE), heading = line.match(HEADING), item = line.match(ITEM);
    if (!line.trim()) at++;
    else if (fence) {
      at++;
      const inner = take((one) => !one.trimStart().startsWith(fence[1]));
      at++;
      made.push(h("pre", {}, inner.join("\n")));
    } else if (heading) { at++; made.push(h("h" + Math.min(6, 3 + heading[1].length), {}, inline(heading[2]))); }
    else if (RULE.test(line)) { at++; made.push(h("hr")); }
    else if (QUOTE.test(line) && depth < DEEPEST) {
      made.push(h("blockquote", {}, blocks(take((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, "")), depth + 1)));
    } else if (item && depth < DEEPEST) {
      const ordered = /\d/.test(item[2]), items = [];
      for (const one of take((other, k) => k === 0 || ITEM.test(other) || /^\s{2,}\S/.test(other))) {
        if (ITEM.test(one) && one.match(ITEM)[1].length <= item[1].length + 1) items.push([one.replace(ITEM, "")]);
        else items.at(-1).push(one.replace(/^ {1,4}|^\t/, ""));
      }
      made.push(h(ordered ? "ol" : "ul", {}, items.map((own) => h("li", {}, own.length === 1 ? inline(own[0]) : blocks(own, depth + 1)))));
    } else if (line.includes("|") && DIVIDER.test(lines[at + 1] || "")) {
      const head = cells(line);
      at += 2;
      const rows = take((one) => one.includes("|"));
      made.push(h("table", {}, h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, inline(cell))))),
        h("tbody", {}, rows.map((row) => h("tr", {}, cells(row).map((cell) => h("td", {}, inline(cell))))))));
    } else {
      const own = take((one, k) => k === 0 || (one.trim() && ![FENCE, HEADING, QUOTE, ITEM, RULE].some((mark) => mark.test(one))));
      made.push(h("p", {}, inline(own.join("\n"))));
    }
  }
  return made;
}

const SHAPES = { json: "JSON", graph: "graph", metrics: "metrics", markdown: "Markdown", code: "code" };

/** An output's text by its kind, with the text as it is one press away. */
function shownOutput(kind, content) {
  const made = Array.isArray(content) && kind !== "code" && kind !== "markdown" ? null : formatted(kind, whole(content));
  if (!made) return shownText(content);
  const place = h("div", {}), note = shownText(content)[1];
  const show = (as) => place.replaceChildren(...(as ? [made, note] : shownText(content)).filter(Boolean));
  show(true);
  return [choice("How it is shown", [[`As ${SHAPES[kind]}`, true], ["As it is", false]], true, show), place];
}

/** An image that the page carries. */
function shownImage(name, [place, mime, width, height]) {
  return h("img", { class: "box", alt: visible(name), width, height, src: `data:${mime};base64,${$("i" + place).textContent.trim()}` });
}
