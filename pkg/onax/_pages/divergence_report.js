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
