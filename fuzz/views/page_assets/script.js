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
    put(figure, "p", { class: "legend" }, "No single line is to blame: the answer as a whole is wrong.");
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
  for (const [label, said] of finding.facts) {
    put(list, "dt", {}, label);
    put(list, "dd", label === "case" ? { class: "mono" } : {}, said);
  }
}

function drawCommand(parent, label, command) {
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
  put(figure, "p", { class: "legend" }, numbers.length ? `light ${low} … dark ${high}; point at an element for its values` : "no finite value");
}

function drawHistogram(parent, kernel) {
  const counts = kernel.ratios, width = 190, height = 92, top = Math.max(...counts, 1), step = (width - 10) / counts.length;
  const figure = put(parent, "figure");
  put(figure, "figcaption", {}, "error as a share of its bound");
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

function drawSizes(parent, kernel) {
  const [across, down] = kernel.axes, width = 190, height = down ? 130 : 60, left = 34, bottom = 24;
  const power = Math.max(1, ...kernel.axes.map(axis => Math.log2(axis.hi + 1)));
  const x = size => left + (width - left - 8) * Math.log2(size + 1) / power;
  const y = size => down ? height - bottom - (height - bottom - 8) * Math.log2(size + 1) / power : (height - bottom) / 2;
  const figure = put(parent, "figure");
  const names = kernel.axes.map(axis => axis.name).join(" by ");
  put(figure, "figcaption", {}, `sizes tried, of those claimed (${names})`);
  const reached = kernel.axes.map(axis => `${axis.name} up to ${axis.tried} of ${axis.hi}`).join(", ");
  const svg = put(figure, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Sizes tried: ${reached}` });
  const box = down ? [x(across.lo), y(down.hi), x(across.hi) - x(across.lo), y(down.lo) - y(down.hi)]
    : [x(across.lo), y(1) - 8, x(across.hi) - x(across.lo), 16];
  put(svg, "rect", { class: "claimed", x: box[0], y: box[1], width: Math.max(2, box[2]), height: Math.max(2, box[3]) });
  for (const [sizes, count] of kernel.sizes) {
    const dot = put(svg, "circle", { class: "bar", "fill-opacity": 0.55, cx: x(sizes[0]), cy: y(sizes[1] ?? 1), r: Math.min(6, 1.5 + Math.log2(count + 1) / 2) });
    put(dot, "title", {}, `${kernel.axes.map((axis, place) => `${axis.name} about ${sizes[place]}`).join(", ")}: ${plural(count, "trial")}`);
  }
  put(svg, "text", { x: width - 8, y: height - 6, "text-anchor": "end" }, `${across.name}, to ${across.hi}`);
  if (down) put(svg, "text", { x: 2, y: 10 }, `${down.name}, to ${down.hi}`);
  put(figure, "p", { class: "legend" }, reached);
}

function drawTime(parent, kernel) {
  const total = kernel.seconds.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (!total) return;
  put(parent, "p", { class: "legend" }, "time: " + kernel.seconds.map(([part, seconds]) =>
    `${part} ${Math.round(100 * seconds / total)} %`).join(", ") + `, ${total.toFixed(1)} s in all`);
}

function drawCards() {
  const cards = byId("cards");
  for (const kernel of data.kernels) {
    const card = put(cards, "article", { class: "card" });
    put(card, "h3", {}, kernel.name);
    put(card, "p", { class: kernel.state === "kept" ? "ok" : kernel.state === "broken" ? "bad" : "" }, kernel.says);
    const plots = put(card, "div", { class: "plots" });
    if (kernel.ratios.some(Boolean)) drawHistogram(plots, kernel);
    if (kernel.axes.length) drawSizes(plots, kernel);
    drawTime(card, kernel);
    for (const note of kernel.notes) put(card, "p", { class: "legend" }, note);
  }
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
  addEventListener("beforeprint", () => findings.forEach(finding => { if (!finding.node.hidden) finding.node.open = true; }));
}

drawHead();
drawFindings();
fill("kind", findings.map(finding => finding.kind));
fill("kernel", findings.map(finding => finding.kernel));
listen();
filter();
if (findings.length) findings[0].node.open = true;
drawCards();
