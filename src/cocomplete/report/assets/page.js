// What all scripts of the page share. Names and values are the user's: they are put on the page as text, never as HTML.

const numbers = JSON.parse(document.getElementById("numbers").textContent);

function one(selector, within) {
  return (within || document).querySelector(selector);
}

function all(selector, within) {
  return Array.from((within || document).querySelectorAll(selector));
}

// An element with a class and a text.
function make(tag, css, text) {
  const element = document.createElement(tag);
  if (css) element.className = css;
  if (text !== undefined) element.textContent = text;
  return element;
}

// The same of SVG, with its attributes.
function draw(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name of Object.keys(attributes)) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return element;
}

function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function counted(number, noun) {
  return count(number) + " " + noun + (number === 1 ? "" : "s");
}

// A number with three significant digits, minus as a minus.
function short(number) {
  if (number === null || !isFinite(number)) return "unknown";
  if (number === 0) return "0";
  const size = Math.abs(number);
  const text = size >= 1000 && size < 1e9 ? count(Math.round(size)) : String(Number(size.toPrecision(3)));
  return (number < 0 ? "−" : "") + text;
}

function signed(number) {
  return (number > 0 ? "+" : "") + short(number);
}

function percent(share) {
  if (share > 0 && share < 0.005) return "< 1\u00a0%";
  if (share < 1 && share >= 0.995) return "> 99\u00a0%";
  return Math.round(100 * share) + "\u00a0%";
}

// How readers look for things: without capitals and accents.
function folded(text) {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
}

// Light or dark, beside what the system says.
function startTheme() {
  const button = one("[data-theme].theme");
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

// The contents say which part is being read.
function startContents() {
  const links = all(".contents a");
  const parts = links.map((link) => one(link.getAttribute("href")));
  const mark = () => {
    let current = 0;
    parts.forEach((part, place) => {
      if (part.getBoundingClientRect().top < window.innerHeight / 3) current = place;
    });
    links.forEach((link, place) => {
      if (place === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  // Inside a notebook's frame a link to a part would lead to the notebook's own address.
  if (window.location.protocol === "about:") {
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      one(link.getAttribute("href")).scrollIntoView();
    });
  }
  let waiting = false;
  window.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  }, { passive: true });
  mark();
}

// On paper everything is open; on the screen it is afterwards as it was.
function startPrinting() {
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((fold) => { fold.open = true; });
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((fold) => { fold.open = false; });
  });
}
