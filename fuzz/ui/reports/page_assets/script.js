"use strict";
// Draws the page from the JSON in it. Text from files is only ever set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const CONTEXT = 4; // lines around a marked one

function put(parent, tag, attributes = {}, ...children) {
  const node = parent instanceof SVGElement || tag === "svg" ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  parent.append(node);
  return node;
}
const byId = id => document.getElementById(id);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// -- findings -------------------------------------------------------------------------------------------------------

const findings = data.findings.map((finding, place) => ({ ...finding, place, node: null,
  text: [finding.bucket, finding.message, finding.where, finding.words, finding.detail, ...finding.also.map(one => one.bucket)]
    .join("\n").toLowerCase() }));

function drawFindings() {
  const list = byId("list");
  const all = document.createDocumentFragment();
  for (const finding of findings) {
    const classes = ["finding", finding.severity === "warning" ? "warning" : "", finding.known ? "known" : ""];
    const node = put(all, "details", { class: classes.filter(Boolean).join(" "), id: `finding-${finding.place}` });
    const summary = put(node, "summary");
    put(summary, "span", { class: "badge" }, finding.known ? "KNOWN" : finding.severity === "warning" ? "WARNING" : "BROKEN");
    summary.append(" ");
    put(summary, "strong", {}, finding.bucket);
    if (finding.also.length) put(summary, "span", {}, ` · seen in ${finding.also.length + 1} ways`);
    put(summary, "span", { class: "said" }, finding.message);
    const line = (data.sources[finding.kernel] || [])[finding.lines[0] - 1];
    put(summary, "code", { class: "line" }, line === undefined ? finding.where : `${finding.where}  ${line.trim()}`);
    node.addEventListener("toggle", () => node.open && drawBody(finding));
    finding.node = node;
  }
  if (!findings.length) put(all, "p", { class: data.good ? "ok" : "" }, data.good ? "Nothing is broken." : "Nothing was found.");
  list.append(all);
}

function drawBody(finding) {
  if (finding.drawn) return;
  finding.drawn = true;
  const body = put(finding.node, "div", { class: "body" });
  const left = put(body, "div"), right = put(body, "div");
  drawSource(left, finding);
  if (finding.threads) drawThreads(right, finding.threads);
  if (finding.picture) drawPicture(right, finding);
  drawFacts(right, finding);
  const commands = put(body, "div", { class: "wide" });
  for (const [label, command] of finding.commands) drawCommand(commands, label, command);
  if (finding.also.length) drawAlso(commands, finding.also);
}

function drawSource(parent, finding) {
  const source = data.sources[finding.kernel];
  const marks = finding.lines.filter(line => source && line >= 1 && line <= source.length);
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, finding.where);
  if (!marks.length) {
    put(figure, "p", { class: "legend" }, finding.in_file ? "The text of this file is not in the report."
      : "No single line is to blame: the answer as a whole is wrong.");
    return;
  }
  const box = put(figure, "div", { class: "source mono", tabindex: 0, role: "group", "aria-label": `Source of ${finding.where}` });
  let last = 0;
  for (let line = 1; line <= source.length; line++) {
    if (!marks.some(mark => Math.abs(mark - line) <= CONTEXT)) continue;
    if (last && line > last + 1) put(box, "div", { class: "gap" }, "…");
    const place = marks.indexOf(line);
    const row = put(box, "div", place >= 0 ? { class: "mark" } : {});
    put(row, "span", { class: "number" }, `${place === 0 ? "▶ " : place > 0 ? "▷ " : ""}${line} `);
    row.append(source[line - 1]);
    last = line;
  }
  const legend = marks.length > 1 ? "▶ where it was seen, ▷ the other line" : "▶ where it was seen";
  put(figure, "p", { class: "legend" }, legend);
}

function drawFacts(parent, finding) {
  const list = put(parent, "dl");
  put(list, "dt", {}, "kind");
  put(put(list, "dd"), "a", { href: `#kind-${finding.kind}` }, `what ${finding.kind} means`);
  for (const [label, said] of finding.facts) {
    put(list, "dt", {}, label);
    put(list, "dd", label === "case" ? { class: "mono" } : {}, said);
  }
}

function drawCommand(parent, label, command) {
  put(parent, "div", { class: "legend" }, label);
  const row = put(parent, "div", { class: "command" });
  put(row, "code", { tabindex: 0, role: "group", "aria-label": label }, command);
  const button = put(row, "button", { type: "button", "aria-label": `Copy: ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(command); } catch { copyBySelection(row.firstChild); }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

function copyBySelection(node) { // pages opened from disk may not have the clipboard
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  document.execCommand("copy");
}

function drawAlso(parent, also) {
  const details = put(parent, "details");
  put(details, "summary", {}, `seen in ${plural(also.length, "other way")}`);
  const list = put(details, "ul");
  for (const one of also) put(list, "li", {}, one.bucket + (one.case ? ` (${one.case})` : ""));
}

// -- pictures -------------------------------------------------------------------------------------------------------

function drawPicture(parent, finding) {
  const { output, rows, cols, got, wrong } = finding.picture;
  const size = Math.max(7, Math.min(26, Math.floor(460 / Math.max(cols, 8))));
  const numbers = got.map(Number).filter(Number.isFinite);
  const low = Math.min(...numbers), high = Math.max(...numbers);
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, `${output}, ${rows} x ${cols}: ${plural(Object.keys(wrong).length, "wrong element")} framed and crossed`);
  const width = cols * size + 2, height = rows * size + 2;
  const svg = put(figure, "svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Values of ${output}; ${plural(Object.keys(wrong).length, "element")} wrong` });
  got.forEach((value, place) => {
    const x = 1 + (place % cols) * size, y = 1 + Math.floor(place / cols) * size;
    const number = Number(value), share = high > low && Number.isFinite(number) ? (number - low) / (high - low) : 0;
    const cell = put(svg, "rect", { x, y, width: size, height: size, class: place in wrong ? "cell wrong" : "cell",
      style: `fill: color-mix(in srgb, var(--hot) ${Math.round(100 * share)}%, var(--cold))` });
    const at = `${output}[${rows > 1 ? `${Math.floor(place / cols)}, ` : ""}${place % cols}]`;
    let said = `${at} = ${value}`;
    if (place in wrong) {
      const [want, lo, hi] = wrong[place];
      said += `\nwanted ${want}\nin [${lo}, ${hi}]`;
      put(svg, "line", { x1: x + 2, y1: y + 2, x2: x + size - 2, y2: y + size - 2, class: "cross", "pointer-events": "none" });
    }
    put(cell, "title", {}, said);
  });
  drawScale(figure, low, high, numbers.length);
}

// The colours of a picture with the values that they stand for, in either theme.
function drawScale(figure, low, high, count) {
  const legend = put(figure, "p", { class: "legend scale" });
  if (!count) return legend.append("no finite value");
  if (low === high) return legend.append(`every finite element is ${low}; point at an element to see its values`);
  legend.append(`${low} `);
  put(legend, "span", { class: "ramp", role: "img", "aria-label": `colours from ${low} to ${high}` });
  legend.append(` ${high}; point at an element to see its values`);
}

// A race: its block, or both blocks, as rows of warps, with the two threads marked and named.
const MOST_LANES = 32, MOST_WARPS = 8;
function drawThreads(parent, threads) {
  const [bx, by, bz] = threads.block_size, lanes = bx * by * bz;
  const number = ([x, y, z]) => x + bx * (y + by * z), name = at => lanes === bx ? `${at[0]}` : `(${at.join(", ")})`;
  const blockName = at => threads.grid[1] * threads.grid[2] === 1 ? `${at[0]}` : `(${at.join(", ")})`;
  const same = `${threads.block}` === `${threads.other_block}`;
  const size = 11, shown = [[threads.block, [[threads.thread, "one"]]]];
  if (same) shown[0][1].push([threads.other_thread, "other"]); else shown.push([threads.other_block, [[threads.other_thread, "other"]]]);
  const figure = put(parent, "figure", { class: "threads" });
  put(figure, "figcaption", {}, `launch of ${plural(threads.grid[0] * threads.grid[1] * threads.grid[2], "block")} of ${plural(lanes, "thread")}`);
  for (const [block, marks] of shown) {
    const marked = marks.map(([at, role]) => [number(at), role, at]);
    const warps = [...new Set(marked.map(([place]) => Math.floor(place / MOST_LANES)))].sort((a, b) => a - b);
    const width = 74 + MOST_LANES * size, height = warps.length * (size + 5) + 4;
    const said = marked.map(([, , at]) => `thread ${name(at)}`).join(" and ");
    const svg = put(figure, "svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `block ${blockName(block)}: ${said}` });
    warps.forEach((warp, row) => {
      const y = 2 + row * (size + 5);
      put(svg, "text", { x: 0, y: y + size - 1 }, `warp ${warp}`);
      for (let lane = 0; lane < MOST_LANES && warp * MOST_LANES + lane < lanes; lane++) {
        const mark = marked.find(([place]) => place === warp * MOST_LANES + lane);
        const cell = put(svg, "rect", { x: 72 + lane * size, y, width: size - 1, height: size, class: mark ? `lane ${mark[1]}` : "lane" });
        put(cell, "title", {}, `block ${blockName(block)}, thread ${mark ? name(mark[2]) : warp * MOST_LANES + lane}`);
        if (mark) put(svg, "text", { x: 72 + lane * size + size / 2 - 0.5, y: y + size - 2, "text-anchor": "middle", class: "letter" }, mark[1] === "one" ? "A" : "B");
      }
    });
    put(figure, "p", { class: "legend" }, `block ${blockName(block)}: ${marked.map(([, role, at]) => `${role === "one" ? "A" : "B"} is thread ${name(at)}`).join(", ")}`);
  }
}

function drawHistogram(parent, kernel) {
  const counts = kernel.ratios, width = 190, height = 92, top = Math.max(...counts, 1), step = (width - 10) / counts.length;
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, "kept trials by their error as a share of its bound; all of it is still right");
  const total = counts.reduce((sum, count) => sum + count, 0);
  const svg = put(figure, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Largest error of each of ${total} kept trials as a share of its bound; the worst is ${kernel.worst}` });
  counts.forEach((count, place) => {
    if (!count) return;
    const tall = Math.max(2, (height - 24) * Math.log1p(count) / Math.log1p(top));
    const bar = put(svg, "rect", { class: "bar", x: 5 + place * step, y: height - 16 - tall, width: step - 1, height: tall });
    put(bar, "title", {}, `${plural(count, "trial")} from ${(place / counts.length).toFixed(2)} to ${((place + 1) / counts.length).toFixed(2)}`);
  });
  put(svg, "line", { class: "axis", x1: 5, x2: width - 5, y1: height - 16, y2: height - 16 });
  put(svg, "line", { class: "bound", x1: width - 5, x2: width - 5, y1: 4, y2: height - 16 });
  put(svg, "text", { x: 5, y: height - 3 }, "0");
  put(svg, "text", { x: width - 5, y: height - 3, "text-anchor": "end" }, "the bound");
}

// Sizes on logarithmic scales: a cell a power of two, darker the more often; the claim's edges solid where they were tried.
function drawSizes(parent, map) {
  const [across, down] = map.axes, width = 230, height = down ? 170 : 62, left = down ? 46 : 12, bottom = 26;
  const log = size => Math.log2(size + 1);
  const scale = (axis, from, to) => size => from + (to - from) * (log(size) - log(axis.lo)) / Math.max(1e-9, log(axis.hi) - log(axis.lo) || 1);
  const x = scale(across, left, width - 10), y = down ? scale(down, height - bottom, 12) : size => size ? 12 : height - bottom;
  const names = map.axes.map(axis => axis.name).join(" by ");
  const said = map.axes.map(axis => `${axis.name} ${short(axis.from)} to ${short(axis.to)} of ${short(axis.lo)} to ${short(axis.hi)}`).join(", ");
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, `sizes tried, of those claimed: ${names}`);
  const svg = put(figure, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Sizes tried: ${said}` });
  const most = Math.max(...map.cells.map(([, count]) => count));
  const within = (axis, size) => Math.max(axis.lo, Math.min(axis.hi, size));
  for (const [[first, second], count] of map.cells) {
    const x1 = x(within(across, first)), x2 = x(within(across, 2 * first));
    const y1 = down ? y(within(down, 2 * second)) : 12, y2 = down ? y(within(down, second)) : height - bottom;
    const cell = put(svg, "rect", { class: "bar", x: Math.min(x1, width - 13), y: Math.min(y1, y2 - 3), width: Math.max(3, x2 - x1),
      height: Math.max(3, y2 - y1), "fill-opacity": 0.25 + 0.75 * Math.log1p(count) / Math.log1p(most) });
    put(cell, "title", {}, `${[first, second].slice(0, map.axes.length).map((size, place) => `${map.axes[place].name} from ${size}`).join(", ")}: ${plural(count, "trial")}`);
  }
  const edge = (was, name, line) => put(put(svg, "line", { class: was ? "edge" : "edge missed", ...line }), "title", {}, `${name}: ${was ? "tried" : "not tried"}`);
  const top = 12, floor = height - bottom, right = width - 10;
  edge(across.from === across.lo, `${across.name} = ${across.lo}`, { x1: left, x2: left, y1: top, y2: floor });
  edge(across.to === across.hi, `${across.name} = ${across.hi}`, { x1: right, x2: right, y1: top, y2: floor });
  if (down) {
    edge(down.from === down.lo, `${down.name} = ${down.lo}`, { x1: left, x2: right, y1: floor, y2: floor });
    edge(down.to === down.hi, `${down.name} = ${down.hi}`, { x1: left, x2: right, y1: top, y2: top });
    put(svg, "text", { x: left - 4, y: top + 8, "text-anchor": "end" }, short(down.hi));
    put(svg, "text", { x: left - 4, y: (top + floor) / 2, "text-anchor": "end" }, down.name);
    put(svg, "text", { x: left - 4, y: floor, "text-anchor": "end" }, short(down.lo));
  }
  put(svg, "text", { x: left, y: height - 10 }, short(across.lo));
  put(svg, "text", { x: (left + right) / 2, y: height - 10, "text-anchor": "middle" }, across.name);
  put(svg, "text", { x: right, y: height - 10, "text-anchor": "end" }, short(across.hi));
  put(figure, "p", { class: "legend" }, `${said}; an edge of the claim is solid where it was tried`);
}
const short = size => size < 10000 ? `${size}` : Number.isInteger(Math.log2(size)) ? `2^${Math.log2(size)}`
  : Number.isInteger(Math.log2(size + 1)) ? `2^${Math.log2(size + 1)}-1` : size.toExponential(1);

function drawFirsts(parent, kernel) {
  const width = 230, height = 62, x = trial => 8 + (width - 20) * Math.log1p(trial) / Math.log1p(Math.max(1, kernel.trials));
  const labels = kernel.firsts.map(([trial, bucket]) => `${bucket} in trial ${trial}`);
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, `trials to find ${plural(kernel.firsts.length, "bug")}`);
  const svg = put(figure, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Trials to find: ${labels.join("; ")}` });
  put(svg, "line", { class: "axis", x1: 8, x2: width - 12, y1: 36, y2: 36 });
  kernel.firsts.forEach(([trial], place) => {
    const mark = put(svg, "line", { class: "edge", x1: x(trial), x2: x(trial), y1: 14, y2: 36 });
    put(mark, "title", {}, labels[place]);
  });
  put(svg, "text", { x: 8, y: 52 }, "trial 0");
  put(svg, "text", { x: width - 12, y: 52, "text-anchor": "end" }, `${kernel.trials}`);
}

function drawTime(parent, kernel) {
  const total = kernel.seconds.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (!total) return;
  const said = kernel.seconds.map(([part, seconds]) => `${part} ${Math.round(100 * seconds / total)} %`).join(", ");
  const figure = put(parent, "figure"), width = 230;
  put(figure, "figcaption", {}, `time by part, ${total.toFixed(1)} s in all`);
  const svg = put(figure, "svg", { width, height: 20, viewBox: `0 0 ${width} 20`, role: "img", "aria-label": `Time by part: ${said}` });
  let at = 0;
  kernel.seconds.forEach(([part, seconds], place) => {
    const wide = width * seconds / total;
    const bar = put(svg, "rect", { class: "bar part", x: at, y: 3, width: wide, height: 14, "fill-opacity": 1 - 0.3 * place });
    put(bar, "title", {}, `${part}: ${seconds.toFixed(2)} s`);
    at += wide;
  });
  put(figure, "p", { class: "legend" }, said);
}

// One row for each kernel; its figures are drawn in a second row when it is opened.
function drawTable() {
  const table = byId("table"), rows = [];
  const head = put(put(table, "thead"), "tr");
  for (const [title, kind] of [["kernel", ""], ["state", ""], ["op", ""], ["trials", "figure"], ["rows", "figure"], ["findings", ""]])
    put(head, "th", { scope: "col", class: kind }, title);
  const body = put(table, "tbody");
  data.kernels.forEach((kernel, place) => {
    const row = put(body, "tr", { class: kernel.state.replace(" ", "-"), id: `kernel-${place}` });
    const button = put(put(row, "th", { scope: "row" }), "button", { type: "button", class: "fold", "aria-expanded": "false" }, kernel.name);
    const colour = { kept: "ok", broken: "bad" }[kernel.state] || "";
    put(row, "td", { class: `state ${colour}` }, kernel.state);
    put(row, "td", { class: "op", title: kernel.op, "data-title": "op" }, kernel.op.split("/").at(-1));
    put(row, "td", { class: "figure", "data-title": "trials" }, kernel.trials.toLocaleString("en"));
    put(row, "td", { class: "figure", "data-title": "rows" }, kernel.rows.toLocaleString("en"));
    const links = put(row, "td", { class: "links" });
    for (const finding of findings.filter(one => one.kernel === kernel.name))
      put(links, "a", { href: `#finding-${finding.place}` }, finding.bucket.replace(`${kernel.name}: `, ""));
    for (const note of kernel.notes) put(links, "span", { class: "legend" }, note.split("\n")[0]);
    const more = put(body, "tr", { class: "more", hidden: "" }), cell = put(more, "td", { colspan: 6 });
    const open = shown => {
      more.hidden = !shown;
      button.setAttribute("aria-expanded", shown);
      if (shown && !cell.firstChild) drawKernel(cell, kernel);
    };
    button.addEventListener("click", () => open(more.hidden));
    rows.push(open);
  });
  if (rows.length === 1) rows[0](true);
}

function drawKernel(cell, kernel) {
  put(cell, "p", { class: "legend" }, kernel.says);
  const plots = put(cell, "div", { class: "plots" });
  if (kernel.ratios.some(Boolean)) drawHistogram(plots, kernel);
  for (const map of kernel.maps) drawSizes(plots, map);
  if (kernel.firsts.length) drawFirsts(plots, kernel);
  drawTime(plots, kernel);
  for (const note of kernel.notes) put(cell, "p", { class: "legend" }, note);
}

// The page of each kind that occurs: headings, lists, code and paragraphs of its Markdown, set as text.
function drawKinds() {
  for (const [kind, page] of Object.entries(data.kinds)) {
    byId("kinds").hidden = false;
    const details = put(byId("kinds"), "details", { class: "kind", id: `kind-${kind}` });
    put(details, "summary", {}, kind);
    for (const block of page.split(/\n\n+/)) drawBlock(details, block.trimEnd());
  }
}

function drawBlock(parent, block) {
  if (!block || block.startsWith("# ")) return;
  if (block.startsWith("```")) put(parent, "pre", {}, block.replace(/^```.*\n?|```$/g, ""));
  else if (block.startsWith("    ")) put(parent, "pre", {}, block.replace(/^ {4}/gm, ""));
  else if (block.startsWith("#")) put(parent, "h3", {}, block.replace(/^#+ /, ""));
  else if (block.startsWith("- ")) {
    const list = put(parent, "ul");
    for (const item of block.split(/\n(?=- )/)) drawWords(put(list, "li"), item.slice(2));
  } else drawWords(put(parent, "p"), block);
}

function drawWords(parent, text) {
  text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`").forEach((part, place) => {
    if (place % 2) put(parent, "code", {}, part); else parent.append(part);
  });
}

// A link leads to what is folded: unfold it, and undo a filter that hides it.
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView({ block: "start" });
  target.firstChild.focus({ preventScroll: true });
}

// -- the head, the filters, the keyboard ------------------------------------------------------------------------------

function drawHead() {
  document.title = `kfuzz: ${data.verdict}`;
  byId("verdict").textContent = data.verdict;
  byId("facts").textContent = data.facts;
  byId("foot").textContent = data.foot;
  if (!data.voids.length) return;
  const details = put(byId("voids"), "details");
  put(details, "summary", {}, `What this run does not show (${data.voids.length}): ${data.voids[0]}`);
  const list = put(details, "ul");
  for (const said of data.voids) put(list, "li", {}, said);
}

function fill(id, words) {
  for (const word of [...new Set(words)].sort()) put(byId(id), "option", { value: word }, word);
}

function filter() {
  const text = byId("search").value.trim().toLowerCase(), kind = byId("kind").value, kernel = byId("kernel").value;
  let shown = 0;
  for (const finding of findings) {
    const fits = (!text || finding.text.includes(text)) && (!kind || finding.kind === kind)
      && (!kernel || finding.kernel === kernel) && (byId("warnings").checked || finding.severity !== "warning")
      && (byId("known").checked || !finding.known);
    finding.node.hidden = !fits;
    shown += fits;
  }
  byId("count").textContent = `${shown} of ${plural(findings.length, "finding")}`;
}

function step(by) {
  const visible = findings.filter(finding => !finding.node.hidden).map(finding => finding.node.firstChild);
  const here = visible.indexOf(document.activeElement);
  const next = visible[Math.max(0, Math.min(visible.length - 1, here < 0 ? 0 : here + by))];
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
}

function listen() {
  for (const id of ["search", "kind", "kernel", "warnings", "known"])
    for (const event of ["input", "change"]) byId(id).addEventListener(event, filter);
  byId("filters").addEventListener("submit", event => event.preventDefault());
  byId("open-all").addEventListener("click", () => {
    const visible = findings.filter(finding => !finding.node.hidden);
    const open = visible.some(finding => !finding.node.open);
    for (const finding of visible) finding.node.open = open;
    byId("open-all").textContent = open ? "Close all" : "Open all";
  });
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
    if (event.key === "/") { event.preventDefault(); byId("search").focus(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "o" && document.activeElement.tagName === "SUMMARY") document.activeElement.click();
  });
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => { // a body is drawn when its finding is opened, and that event comes too late
    for (const finding of findings) if (!finding.node.hidden) { finding.node.open = true; drawBody(finding); }
    for (const details of document.querySelectorAll("#voids details, .kind")) details.open = true;
  });
}

drawHead();
drawFindings();
fill("kind", findings.map(finding => finding.kind));
fill("kernel", findings.map(finding => finding.kernel));
listen();
filter();
if (findings.length === 1) findings[0].node.open = true; // of several, all are to be seen at once
drawTable();
drawKinds();
follow();
