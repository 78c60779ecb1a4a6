"""The report as one self-contained page: filters by family, backend and verdict, heat maps for the tables."""

import html
import json

from onax._divergence.writers import to_data

_STYLE = """
:root { color-scheme: light dark; --fg: #1c2024; --bg: #ffffff; --soft: #f2f4f7; --line: #d9dee5; --dim: #667085;
  --good: #18794e; --bad: #c62a2f; --warn: #ad5700; --mark: #2f6fdf; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6e8eb; --bg: #131518; --soft: #1d2126; --line: #323842;
  --dim: #98a2b3; --good: #4cc38a; --bad: #ff6369; --warn: #f1a10d; --mark: #6ea8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--bg); color: var(--fg);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 0; }
form { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem; padding: .6rem 0;
  background: var(--bg); border-bottom: 1px solid var(--line); }
label { display: grid; font-size: .75rem; color: var(--dim); flex: 1 1 8.5rem; min-width: 0; }
select, input { font: inherit; font-size: 1rem; min-height: 2.5rem; width: 100%; padding: .25rem .5rem;
  color: var(--fg); background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; }
#count { flex-basis: 100%; color: var(--dim); font-size: .85rem; }
section { margin: 1.25rem 0; padding: .9rem; border: 1px solid var(--line); border-radius: .6rem; }
section[hidden] { display: none; }
dl { margin: .5rem 0; display: grid; grid-template-columns: max-content 1fr; gap: .15rem .8rem; }
dt { color: var(--dim); } dd { margin: 0; }
.scroll { overflow-x: auto; -webkit-overflow-scrolling: touch; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; }
th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--dim); font-weight: 600; overflow-wrap: normal; }
td { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
td.good::before { content: "\\2713 "; color: var(--good); } td.bad { color: var(--bad); font-weight: 600; }
td.bad::before { content: "\\2717 "; }
.heat { width: auto; margin: .5rem 0; } .heat th, .heat td { font-size: .7rem; padding: .15rem .3rem; border: 1px solid
  var(--line); text-align: center; min-width: 1.6rem; white-space: nowrap; }
.heat .same { background: transparent; color: var(--dim); } .heat .other { background: color-mix(in srgb, var(--warn)
  var(--heat, 35%), transparent); } .heat .departs { background: var(--bad); color: #fff; }
button { font: inherit; min-height: 2.5rem; padding: .25rem .9rem; color: var(--mark); background: var(--soft);
  border: 1px solid var(--line); border-radius: .4rem; }
@media (max-width: 40rem) { .rows thead { display: none; } .rows tr { display: block; padding: .5rem 0;
  border-bottom: 1px solid var(--line); } .rows td { display: flex; gap: .6rem; border: 0; padding: .05rem 0; }
  .rows td::after { order: -1; content: attr(data-label); flex: 0 0 5.5rem; color: var(--dim);
  font-family: system-ui, sans-serif; } .rows td.good::before, .rows td.bad::before { order: 0; } }
"""

_SCRIPT = """
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("filters"), main = document.getElementById("families");
const BATCH = 60, names = Object.keys(data.backends);
const make = (tag, text, attributes) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  return node;
};
const options = (select, pairs) => pairs.forEach(([value, text]) => select.append(make("option", text, {value})));
options(form.family, [["", "all families"], ...data.families.map(f => [f.name, f.title])]);
options(form.backend, [["", "all backends"], ...names.map(n => [n, n])]);
options(form.verdict, [["", "all cases"], ["differs", "NumPy differs"], ["same", "as NumPy"], ["departs", "departs"]]);

function matches(c, filters) {
  const shown = filters.backend ? [filters.backend] : names;
  const departs = shown.some(n => c.results[n].verdict === "departs");
  if (filters.verdict === "departs" && !departs) return false;
  if (filters.verdict === "differs" && !c.diverges) return false;
  if (filters.verdict === "same" && c.diverges) return false;
  const words = (c.title + " " + c.dtype + " " + c.arguments).toLowerCase();
  return filters.text.toLowerCase().split(/\\s+/).every(w => words.includes(w));
}

function row(c, shown) {
  const tr = make("tr");
  const cell = (text, label, kind) => tr.append(make("td", text, {"data-label": label, class: kind || ""}));
  cell(c.title, "case"); cell(c.dtype, "dtype"); cell(c.arguments, "arguments");
  cell(c.numpy, "NumPy"); cell(c.documented, "documented");
  for (const n of shown) {
    const good = c.results[n].verdict !== "departs";
    cell(good ? "yes" : c.results[n].text, n, good ? "good" : "bad");
  }
  return tr;
}

function rows(cases, shown) {
  const box = make("div", undefined, {class: "scroll"}), table = make("table", undefined, {class: "rows"});
  const head = make("tr");
  ["case", "dtype", "arguments", "NumPy", "documented", ...shown.map(n => n + " as documented?")].forEach(
    t => head.append(make("th", t)));
  const thead = make("thead"), body = make("tbody");
  thead.append(head); table.append(thead, body); box.append(table);
  let next = 0;
  const more = make("button", "", {type: "button"});
  const add = () => {
    cases.slice(next, next + BATCH).forEach(c => body.append(row(c, shown)));
    next += BATCH;
    more.textContent = `${cases.length - next} more`;
    if (next >= cases.length) more.remove();
  };
  box.append(more); more.onclick = add; add();
  return box;
}

function heat(family, shown) {
  const cells = new Map(family.cases.map(c => [c.cell[0] + "|" + c.cell[1], c]));
  const down = [...new Set(family.cases.map(c => c.cell[0]))], across = [...new Set(family.cases.map(c => c.cell[1]))];
  const counts = family.cases.map(c => parseInt(c.cell[2]) || 0), most = Math.max(1, ...counts);
  const box = make("div", undefined, {class: "scroll"}), table = make("table", undefined, {class: "heat"});
  const head = make("tr");
  head.append(make("th", family.table.join(" \\\\ "))); across.forEach(a => head.append(make("th", a)));
  table.append(head);
  for (const d of down) {
    const tr = make("tr"); tr.append(make("th", d));
    for (const a of across) {
      const c = cells.get(d + "|" + a);
      if (!c) { tr.append(make("td")); continue; }
      const departs = shown.some(n => c.results[n].verdict === "departs"), count = parseInt(c.cell[2]) || 0;
      const td = make("td", count ? String(count) : c.cell[2].split(",")[0], {
        class: departs ? "departs" : c.diverges ? "other" : "same",
        title: `${c.title}: NumPy ${c.numpy}, documented ${c.documented}`,
      });
      if (count) td.style.setProperty("--heat", `${20 + 60 * count / most}%`);
      tr.append(td);
    }
    table.append(tr);
  }
  box.append(table);
  return box;
}

function draw() {
  const filters = {family: form.family.value, backend: form.backend.value, verdict: form.verdict.value,
    text: form.text.value.trim()};
  const shown = filters.backend ? [filters.backend] : names;
  main.replaceChildren();
  let count = 0, departures = 0;
  for (const family of data.families) {
    if (filters.family && family.name !== filters.family) continue;
    const cases = family.cases.filter(c => matches(c, filters));
    if (!cases.length) continue;
    count += cases.length;
    departures += cases.filter(c => shown.some(n => c.results[n].verdict === "departs")).length;
    const section = make("section", undefined, {id: family.name});
    section.append(make("h2", family.title));
    const list = make("dl");
    [["rule", family.rule], ["safe", family.safe], ["cases", `${cases.length}, NumPy differs in ` +
      cases.filter(c => c.diverges).length]].forEach(([k, v]) => list.append(make("dt", k), make("dd", v)));
    section.append(list);
    if (family.table) section.append(heat(family, shown));
    section.append(rows(cases, shown));
    main.append(section);
  }
  document.getElementById("count").textContent =
    `${count} cases on ${shown.join(", ")}; ${departures ? departures + " depart" : "all as documented"}`;
  const hash = new URLSearchParams(Object.entries(filters).filter(([, v]) => v)).toString();
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
}

for (const [key, value] of new URLSearchParams(location.hash.slice(1))) if (form[key]) form[key].value = value;
form.addEventListener("input", draw);
form.addEventListener("submit", e => e.preventDefault());
draw();
"""


def to_html(report):
    """The page: data, style and script in one file; nothing is loaded from anywhere."""
    data = json.dumps(to_data(report)).replace("</", "<\\/")
    backends = ", ".join(f"{html.escape(n)} ({html.escape(v)})" for n, v in report.backends.items())
    missing = "".join(f"<p>Not run: {html.escape(n)}. {html.escape(why)}</p>" for n, why in report.missing.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>onax: where it parts from NumPy</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Where onax {html.escape(report.onax_version)} parts from NumPy</h1>
<p>Each case was run live on {backends}.</p>
{missing}
<form id="filters">
<label>family<select name="family"></select></label>
<label>backend<select name="backend"></select></label>
<label>verdict<select name="verdict"></select></label>
<label>search<input name="text" type="search" placeholder="int8, slice, ..."></label>
<output id="count"></output>
</form>
<main id="families"></main>
<noscript>This page needs JavaScript for its filters; the text form of the report needs none.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{_SCRIPT}</script>
</body>
</html>
"""
