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
  return filters.text.toLowerCase().split(/\s+/).every(w => words.includes(w));
}

const documented = (c, name) => c.results[name].verdict !== "departs";
const verdict = (c, name) => documented(c, name) ? "as documented" : c.results[name].text;

// Lists of backends, in order; the backends of one list say the same of every case, so that they share a column.
function merged(shown, text) {
  const columns = new Map();
  for (const name of shown) {
    const key = JSON.stringify(text(name));
    columns.set(key, [...(columns.get(key) || []), name]);
  }
  return [...columns.values()];
}

const differencesFirst = cases => [...cases.filter(c => c.diverges), ...cases.filter(c => !c.diverges)];

function row(c, columns) {
  const tr = make("tr");
  const cell = (text, label, kind) => tr.append(make("td", text, {"data-label": label, class: kind || ""}));
  cell(c.title, "case"); cell(c.dtype, "dtype"); cell(c.arguments, "arguments");
  cell(c.numpy, "NumPy"); cell(c.documented, "documented");
  for (const column of columns)
    cell(verdict(c, column[0]), column.join(", "), documented(c, column[0]) ? "good" : "bad");
  return tr;
}

function rows(cases, shown) {
  const box = make("div", undefined, {class: "scroll"}), table = make("table", undefined, {class: "rows"});
  const head = make("tr"), columns = merged(shown, n => cases.map(c => verdict(c, n)));
  ["case", "dtype", "arguments", "NumPy", "documented", ...columns.map(names => names.join(", "))].forEach(
    t => head.append(make("th", t)));
  const thead = make("thead"), body = make("tbody");
  thead.append(head); table.append(thead, body); box.append(table);
  let next = 0;
  const more = make("button", "", {type: "button"});
  const add = () => {
    cases.slice(next, next + BATCH).forEach(c => body.append(row(c, columns)));
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
  head.append(make("th", family.table.join(" \\ "))); across.forEach(a => head.append(make("th", a)));
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

function familyVerdict(family, cases, name) {
  if (family.missing) return "not run";
  const count = cases.filter(c => !documented(c, name)).length;
  return count ? `${count} depart` : "as documented";
}

// One line a family: its cases, in how many NumPy differs, the verdict on each backend.
function summary(chosen, shown) {
  const box = make("div", undefined, {class: "scroll"}), table = make("table", undefined, {id: "summary"});
  const columns = merged(shown, n => chosen.map(([family, cases]) => familyVerdict(family, cases, n)));
  const head = make("tr"), thead = make("thead"), body = make("tbody");
  ["family", "cases", "NumPy differs", ...columns.map(names => names.join(", "))].forEach(t => head.append(make("th", t)));
  thead.append(head);
  for (const [family, cases] of chosen) {
    const tr = make("tr"), title = make("td"), link = make("a", family.title, {href: "#" + family.name});
    link.onclick = event => {
      event.preventDefault();
      const section = document.getElementById(family.name);
      section.querySelector("details").open = true;
      section.scrollIntoView();
    };
    title.append(link);
    tr.append(title, make("td", cases.length), make("td", family.missing ? "" : cases.filter(c => c.diverges).length));
    for (const column of columns) {
      const text = familyVerdict(family, cases, column[0]);
      tr.append(make("td", text, {class: text === "as documented" ? "good" : text === "not run" ? "" : "bad"}));
    }
    body.append(tr);
  }
  table.append(thead, body); box.append(table);
  return box;
}

// A family's section: its rule is always shown, its tables once they are asked for.
function section(family, cases, shown, open) {
  const node = make("section", undefined, {id: family.name}), list = make("dl");
  node.append(make("h2", family.title));
  [["rule", family.rule], ["safe", family.safe], ...(family.missing ? [["not run", family.missing]] : [])].forEach(
    ([k, v]) => list.append(make("dt", k), make("dd", v)));
  node.append(list);
  if (!cases.length) return node;
  const details = make("details");
  details.append(make("summary", `${cases.length} cases, NumPy differs in ${cases.filter(c => c.diverges).length}`));
  const fill = () => {
    if (!details.open || details.children.length > 1) return;
    if (family.table) details.append(heat(family, shown));
    details.append(rows(cases, shown));
  };
  details.addEventListener("toggle", fill);
  details.open = open;
  fill();
  node.append(details);
  return node;
}

function draw() {
  const filters = {family: form.family.value, backend: form.backend.value, verdict: form.verdict.value,
    text: form.text.value.trim()};
  const shown = filters.backend ? [filters.backend] : names;
  const filtered = filters.family || filters.verdict || filters.text;
  const chosen = data.families.filter(f => !filters.family || f.name === filters.family)
    .map(f => [f, differencesFirst(f.cases.filter(c => matches(c, filters)))])
    .filter(([f, cases]) => cases.length || (f.missing && !filtered));
  const all = chosen.flatMap(([, cases]) => cases);
  const departures = all.filter(c => shown.some(n => !documented(c, n))).length;
  main.replaceChildren(...(filters.family ? [] : [summary(chosen, shown)]),
    ...chosen.map(([f, cases]) => section(f, cases, shown, !!filtered)));
  document.getElementById("count").textContent =
    `${all.length} cases on ${shown.join(", ")}; ${departures ? departures + " depart" : "all as documented"}`;
  const hash = new URLSearchParams(Object.entries(filters).filter(([, v]) => v)).toString();
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
}

for (const [key, value] of new URLSearchParams(location.hash.slice(1))) if (form[key]) form[key].value = value;
form.addEventListener("input", draw);
form.addEventListener("submit", e => e.preventDefault());
draw();
