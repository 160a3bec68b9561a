"use strict";
// Chooses problems, moves their parameters, and shows what the workers of the server answer.
(() => {
  const byId = (id) => document.getElementById(id);
  // Two windows of the browser do not cancel each other's solves.
  const tab = Array.from(crypto.getRandomValues(new Uint8Array(6)), (b) => b.toString(16).padStart(2, "0")).join("");
  // Milliseconds after the last movement of a slider.
  const PAUSE = 120;
  // Solved in no time, and what is sharp about it can be seen.
  const FIRST = "pinned-shock";
  const problem = { name: null, text: null, facts: null };
  const entries = new Map(), settings = [];

  // Asks the server, hands on its lines of progress and returns its answer.
  async function ask(action, view, body, { signal, progress } = {}) {
    let response;
    try {
      response = await fetch(`/api/${action}`, {
        method: "POST", signal, headers: { "content-type": "application/json" },
        body: JSON.stringify({ view: `${tab}:${view}`, ...body }),
      });
    } catch (error) {
      if (error.name === "AbortError") return { stale: true };
      return { error: "The server does not answer. Was it ended? Start it again with sharpfront explore, then reload this page." };
    }
    if (!response.headers.get("content-type")?.includes("ndjson")) {
      const text = await response.text();
      try { return JSON.parse(text); } catch { return { error: text.trim() || `The server said ${response.status}.` }; }
    }
    try {
      let rest = "", last = { stale: true };
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          last = JSON.parse(line);
          if (last.progress) progress?.(last.progress);
        }
      }
      return last;
    } catch (error) {
      return { stale: error.name === "AbortError", error: "The connection to the server broke." };
    }
  }

  function complain(place, answer) {
    place.replaceChildren();
    place.hidden = !answer;
    if (!answer) return;
    // Lines of the file, with a mark below, are not to be broken.
    for (const lines of answer.error.match(/(^ {2}.*\n?)+|^(?! {2}).*\n?/gm) ?? []) {
      const quoted = lines.startsWith("  ");
      const part = document.createElement(quoted ? "pre" : "p"), words = lines.replace(/\n$/, "");
      // Every second piece between backticks is code.
      part.append(...(quoted ? [words] : words.split("`").map((piece, i) => (i % 2 ? coded(piece) : piece))));
      place.append(part);
    }
    const lines = [...new Set((answer.mistakes ?? []).map((m) => m.line).filter(Boolean))];
    for (const line of problem.text === null ? [] : lines) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: `Go to line ${line}` });
      button.addEventListener("click", () => goTo(line));
      place.append(button, " ");
    }
  }

  function coded(words) {
    return Object.assign(document.createElement("code"), { textContent: words });
  }

  function goTo(line) {
    const area = byId("text"), lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    byId("editor").open = true;
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    area.scrollTop = (area.scrollHeight * Math.max(0, line - 4)) / lines.length;
  }

  function download(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // A slider with a box for the exact number. Over decades around a value, or evenly around zero.
  class Slider {
    constructor(id, label, value, { low = -200, high = 200, unit = null, moved }) {
      Object.assign(this, { unit: unit ?? (value || 1), fixed: unit !== null, even: value === 0, moved });
      this.element = document.createElement("div");
      this.element.className = "slider";
      this.label = Object.assign(document.createElement("label"), { textContent: label, htmlFor: `${id}-range` });
      this.range = Object.assign(document.createElement("input"), { type: "range", id: `${id}-range`, min: low, max: high, step: 1 });
      this.box = Object.assign(document.createElement("input"), { type: "number", id, step: "any", required: true });
      this.box.setAttribute("aria-label", `${label}, exact value`);
      this.element.append(this.label, this.box, this.range);
      this.range.addEventListener("input", () => this.take(this.at(Number(this.range.value))));
      this.box.addEventListener("change", () => this.box.checkValidity() && this.take(Number(this.box.value), true));
      this.set(value);
    }
    at(position) {
      const raw = this.even ? position / 200 : this.unit * 10 ** (position / 100);
      return position === 0 ? (this.even ? 0 : this.unit) : Number(raw.toPrecision(3));
    }
    take(value, typed = false) {
      // A number beyond the slider becomes its new middle.
      const beyond = !(Math.abs(this.position(value)) <= Number(this.range.max));
      if (typed && beyond && !this.fixed) Object.assign(this, { unit: value || 1, even: value === 0 });
      this.set(value);
      this.moved(value);
    }
    position(value) {
      return Math.round(this.even ? 200 * value : 100 * Math.log10(value / this.unit));
    }
    set(value) {
      this.range.value = this.position(value);
      const short = Number(value.toPrecision(8));
      this.box.value = Math.abs(short) < 1e-3 && short ? short.toExponential().replace("e+", "e") : String(short);
      this.range.setAttribute("aria-valuetext", tidy(value, 4));
    }
  }

  // One choice of parameters and tolerance, and its solution.
  class Setting {
    constructor(key, parameters, tol) {
      Object.assign(this, { key, parameters: { ...parameters }, tol, answer: null, viewer: null, kept: null });
      this.element = byId("setting").content.firstElementChild.cloneNode(true);
      this.find = (selector) => this.element.querySelector(selector);
      this.root = this.find(".view").attachShadow({ mode: "open" });
      for (const name of ["report", "explorer"]) {
        this.root.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/static/${name}.css` }));
      }
      this.parts = Object.assign(document.createElement("div"), { className: "view-parts" });
      this.root.append(this.parts);
      this.find(".sliders").addEventListener("submit", (e) => e.preventDefault());
      this.find("[data-act=stop]").addEventListener("click", () => this.stop());
      this.find("[data-act=compare]").addEventListener("click", () => (this.key === "a" && settings.length < 2 ? compare() : alone()));
      for (const button of this.element.querySelectorAll("[data-export]")) {
        button.addEventListener("click", () => this.export(button.dataset.export));
      }
      for (const event of ["input", "change", "click"]) this.root.addEventListener(event, () => link(this));
      this.sliders();
    }
    // Those of the problem as it was read, at the values of this setting.
    sliders() {
      const moved = (change) => (value) => { change(value); this.soon(); };
      const rows = Object.entries(problem.facts?.parameters ?? {}).map(([name, value]) => {
        const slider = new Slider(`${this.key}-${name}`, name, value, { moved: moved((v) => { this.parameters[name] = v; }) });
        if (name in this.parameters) slider.set(this.parameters[name]);
        return slider;
      });
      // Without one of its own a problem gets the library's, which the answer names.
      this.tolerance = new Slider(`${this.key}-tol`, "Tolerance", this.tol ?? problem.facts?.tol ?? 1e-8, {
        unit: 1, low: -1200, high: -100, moved: moved((v) => { this.tol = v; }),
      });
      this.tolerance.range.step = 50;
      Object.assign(this.tolerance.box, { min: 1e-15, max: 0.5 });
      this.find(".sliders").replaceChildren(...[...rows, this.tolerance].map((s) => s.element));
    }
    // Anew with the problem as it was read; with none there is nothing to show.
    begin() {
      this.running?.abort();
      Object.assign(this, { parameters: {}, tol: null, kept: null });
      this.clear();
      this.sliders();
      this.find(".sliders").hidden = !problem.facts;
      complain(this.find(".mistakes"), null);
      return problem.facts ? this.solve() : this.busy(false, "Not solved: the problem cannot be read.");
    }
    clear() {
      Object.assign(this, { answer: null, viewer: null });
      this.parts.replaceChildren();
      this.find(".exports").hidden = true;
    }
    asked() {
      const { name, text } = problem;
      return { name, text, parameters: this.parameters, tol: this.tol };
    }
    soon() {
      clearTimeout(this.waiting);
      this.busy(true, "Solving…");
      this.waiting = setTimeout(() => this.solve(), PAUSE);
    }
    stop() {
      clearTimeout(this.waiting);
      this.running?.abort();
      this.busy(false, "Stopped. Move a slider to solve again.");
    }
    busy(on, words) {
      this.find(".progress").textContent = words;
      this.find("[data-act=stop]").hidden = !on;
      this.find(".view").setAttribute("aria-busy", String(on));
      clearTimeout(this.fading);
      if (on) this.fading = setTimeout(() => this.find(".view").classList.add("old"), 250);
      else this.find(".view").classList.remove("old");
      for (const button of this.element.querySelectorAll("[data-export]")) button.disabled = on;
    }
    async solve() {
      clearTimeout(this.waiting);
      this.running?.abort();
      const running = (this.running = new AbortController());
      this.busy(true, "Solving…");
      const progress = (words) => { if (this.running === running) this.find(".progress").textContent = `Solving: ${words}`; };
      const said = await ask("solve", this.key, this.asked(), { signal: running.signal, progress });
      // A newer solve has taken over, or this one was stopped.
      if (this.running !== running || said.stale) return;
      complain(this.find(".mistakes"), said.error ? said : null);
      if (said.error) {
        this.clear();
        this.busy(false, "Not solved.");
        return;
      }
      this.show(said.answer);
      const { solve, picture } = said.answer.seconds;
      this.busy(false, `Solved in ${tidy(solve, 2)} s, pictures made in ${tidy(picture, 2)} s.`);
    }
    show(answer) {
      // What the reader has chosen to see stays chosen, and the focus where it was.
      this.kept = this.viewer?.settings() ?? this.kept;
      const focus = this.root.activeElement?.id;
      const open = [...this.parts.querySelectorAll("details[open]")].map((d) => d.dataset.part);
      this.answer = answer;
      if (this.tol === null) this.tolerance.set(answer.tol);
      this.parts.innerHTML = answer.markup.verdict + answer.markup.viewer + answer.markup.figures
        + folded("trust", "How far to trust it", answer.markup.trust)
        + folded("history", "How it got there", answer.markup.history)
        + folded("python", "The Python that repeats it", "<pre tabindex=0><code></code></pre>");
      this.parts.querySelector("[data-part=python] code").textContent = answer.python;
      for (const part of open) this.parts.querySelector(`[data-part=${part}]`).open = true;
      this.viewer = viewer(this.root, answer.data);
      if (this.kept) this.viewer.take(this.kept);
      for (const view of this.viewer.views) view.listeners.push(() => link(this));
      if (focus) this.root.getElementById(focus)?.focus();
      this.find(".exports").hidden = false;
      this.find("[data-export=file]").hidden = answer.file === null;
      this.find("[data-note]").textContent = [answer.without, ...answer.missing.map((m) => `The Python needs ${m}.`)].filter(Boolean).join(" ");
      if (this === settings[0]) byId("mathematics").innerHTML = answer.problem;
    }
    async export(kind) {
      const { name, file, python } = this.answer;
      if (kind === "file") return download(`${name}.toml`, file, "application/toml");
      if (kind === "python") return download(`${name}.py`, python, "text/x-python");
      this.busy(true, "Writing the report…");
      const said = await ask("report", this.key, this.asked());
      this.busy(false, said.error ? "There is no report." : "The report was handed to the browser.");
      complain(this.find(".mistakes"), said.error ? said : null);
      if (said.answer) download(`${said.answer.name}.html`, said.answer.page, "text/html");
    }
  }

  function folded(part, words, inner) {
    return `<details data-part="${part}"><summary>${words}</summary>${inner}</details>`;
  }

  // Side by side, both show the same quantity, moment and window.
  let linking = false;
  function link(from) {
    if (linking || settings.length < 2 || !from.viewer) return;
    linking = true;
    for (const to of settings) if (to !== from) to.viewer?.take(from.viewer.settings());
    linking = false;
  }

  function compare() {
    if (!problem.facts) return;
    const [first] = settings, second = new Setting("b", first.parameters, first.tol);
    second.kept = first.viewer?.settings() ?? null;
    settings.push(second);
    byId("settings").append(second.element);
    second.solve();
    headed();
    second.find("input").focus();
  }

  function alone() {
    const second = settings.pop();
    second.running?.abort();
    second.element.remove();
    headed();
    settings[0].find("[data-act=compare]").focus();
  }

  function headed() {
    const two = settings.length === 2;
    byId("settings").classList.toggle("two", two);
    settings.forEach((setting, i) => {
      setting.parts.classList.toggle("beside", two);
      setting.find("h2").textContent = two ? `Setting ${"AB"[i]}` : "Solution";
      const button = setting.find("[data-act=compare]");
      button.hidden = two && i === 0;
      button.textContent = two ? "Close" : "Compare two settings";
    });
  }

  // Reads a problem, then solves it in every setting.
  let reading = null;
  async function use(name, text) {
    reading?.abort();
    const now = (reading = new AbortController());
    Object.assign(problem, { name, text });
    const said = await ask("read", "read", { name, text }, { signal: now.signal });
    if (reading !== now || said.stale) return;
    complain(byId("mistakes"), said.error ? said : null);
    problem.facts = said.answer ?? null;
    byId("statement").textContent = entries.get(name)?.statement ?? said.answer?.title ?? "";
    byId("mathematics").innerHTML = said.answer?.problem ?? "";
    document.title = `${said.answer?.title ?? "A problem with mistakes"} – sharpfront`;
    history.replaceState(null, "", name ? `#${name}` : location.pathname);
    await Promise.all(settings.map((setting) => setting.begin()));
  }

  function chooseEntry(name) {
    const entry = entries.get(name);
    byId("choose").value = name;
    byId("text").value = entry.file ?? `# ${entry.title} cannot be written as a problem file.\n`;
    return use(name, null);
  }

  function useText() {
    byId("choose").value = "";
    return use(null, byId("text").value);
  }

  function fill(problems) {
    const groups = new Map(), words = { 1: "On the line", 2: "In the plane", 3: "In space", 5: "In five dimensions", "1 + t": "On the line, in time", "2 + t": "In the plane, in time" };
    for (const entry of problems) {
      entries.set(entry.name, entry);
      if (!groups.has(entry.dimension)) {
        groups.set(entry.dimension, Object.assign(document.createElement("optgroup"), { label: words[entry.dimension] ?? entry.dimension }));
      }
      groups.get(entry.dimension).append(new Option(entry.title, entry.name));
    }
    byId("choose").replaceChildren(new Option("Your own problem file", ""), ...groups.values());
  }

  async function begin() {
    byId("formulas").open = byId("settings").clientWidth < innerWidth - 200;
    settings.push(new Setting("a", {}, null));
    byId("settings").append(settings[0].element);
    headed();
    settings[0].busy(true, "Loading the library…");
    const [start, catalog] = await Promise.all([fetch("/api/start").then((r) => r.json()), ask("catalog", "catalog", {})]);
    if (catalog.error) return complain(byId("mistakes"), catalog);
    fill(catalog.answer.problems);
    byId("choose").addEventListener("change", () => {
      if (byId("choose").value) return chooseEntry(byId("choose").value);
      byId("editor").open = true;
      byId("text").focus();
    });
    byId("use-text").addEventListener("click", useText);
    byId("text").addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) useText(); });
    if (start.text !== null) {
      byId("text").value = start.text;
      return useText();
    }
    const named = location.hash.slice(1);
    return chooseEntry([named, FIRST].find((name) => entries.has(name)) ?? entries.keys().next().value);
  }

  begin();
})();
