"use strict";

/* Light or dark: what the reader chose, or else what the system says.  Run before the page is drawn. */
const theme = {
  read() { try { return localStorage.getItem("theme"); } catch { return null; } },
  keep(value) { try { localStorage.setItem("theme", value); } catch { /* private windows have no storage */ } },
  get dark() {
    return (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  },
};
if (["light", "dark"].includes(theme.read())) document.documentElement.dataset.theme = theme.read();

document.addEventListener("DOMContentLoaded", () => {
  themeButton(document.querySelector(".theme"));
  document.querySelectorAll(".command").forEach(copyable);
  document.querySelectorAll(".strip").forEach(walkable);
  document.querySelectorAll(".graph").forEach(centre);
  document.querySelectorAll(".formula, .scroll, pre").forEach(reachable);
  const form = document.querySelector(".filters");
  if (form) filters(form);
});

function themeButton(button) {
  const label = () => { button.textContent = theme.dark ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = theme.dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    theme.keep(next);
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
}

function copyable(box) {
  const button = box.querySelector(".copy");
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(box.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch { button.textContent = "Not allowed"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

/* A drawing that is wider than the screen shows the claim it is about. */
function centre(box) {
  const here = box.querySelector(".here").getBoundingClientRect();
  box.scrollLeft += here.left + here.width / 2 - (box.getBoundingClientRect().left + box.clientWidth / 2);
}

/* What scrolls in its own box can be scrolled with the keys. */
function reachable(box) {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
}

/* A strip is one stop of the tab key; inside it the arrow keys move. */
function walkable(strip) {
  const cells = [...strip.querySelectorAll("a")];
  const go = (cell) => {
    cells.forEach((other) => { other.tabIndex = other === cell ? 0 : -1; });
    cell.focus();
  };
  cells.forEach((cell, place) => { cell.tabIndex = place ? -1 : 0; });
  strip.addEventListener("keydown", (event) => {
    const at = cells.indexOf(document.activeElement);
    const wide = cells.filter((cell) => cell.offsetTop === cells[0].offsetTop).length;
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - wide, ArrowDown: at + wide, Home: 0, End: cells.length - 1 };
    if (at < 0 || !(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (cells[moves[event.key]]) go(cells[moves[event.key]]);
  });
}

/* Search and filters; their state is the address, so that a view can be linked to. */
function filters(form) {
  const fields = ["q", "document", "verdict", "kind", "severity"].map((id) => document.getElementById(id));
  const search = fields[0];
  const rows = [...document.querySelectorAll(".claims li")];
  const cells = new Map([...document.querySelectorAll(".cell")].map((cell) => [cell.dataset.id, cell]));
  const count = form.querySelector(".count");
  const more = form.querySelector(".more");
  form.hidden = false;

  function matches(row, wanted, words) {
    return Object.entries(wanted).every(([name, value]) => !value || row.dataset[name] === value)
      && words.every((word) => row.dataset.text.includes(word));
  }

  function apply() {
    const wanted = Object.fromEntries(fields.slice(1).map((field) => [field.id, field.value]));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = matches(row, wanted, words);
      row.hidden = !fits;
      cells.get(row.dataset.id).classList.toggle("dim", !fits);
      shown += fits;
    }
    const filtered = fields.some((field) => field.value);
    count.textContent = filtered ? `${shown} of ${rows.length} ↓` : `${rows.length} statements ↓`;
    form.querySelector("[type=reset]").disabled = !filtered;
    document.querySelector(".none").hidden = shown > 0;
    document.querySelectorAll(".legend > ul a").forEach((link) => {
      if (wanted.verdict && link.hash === `#verdict=${wanted.verdict}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }

  function remember() {
    const state = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.id, field.value]));
    history.replaceState(null, "", `#${state}`);
    apply();
  }

  function recall() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return;                 // the name of a place on the page
    const state = new URLSearchParams(hash);
    for (const field of fields) {
      field.value = state.get(field.id) || "";
      if (field.selectedIndex === -1) field.value = "";      // a value that no option has
    }
    apply();
  }

  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => { event.preventDefault(); document.getElementById("claims").focus(); });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    fields.forEach((field) => { field.value = ""; });
    remember();
  });
  document.querySelector(".clear").addEventListener("click", () => { form.reset(); search.focus(); });
  more.addEventListener("click", () => more.setAttribute("aria-expanded", String(form.classList.toggle("open"))));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
  addEventListener("hashchange", recall);
  apply();
  recall();
}
