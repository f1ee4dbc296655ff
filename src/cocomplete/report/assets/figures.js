// Figures: their numbers as CSV, and the drawings that a wide page keeps packed until a column is opened.

// Numbers and drawings lie in the page compressed; unpacked once, at the start.
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("figures").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// A text that a spreadsheet would take for a formula gets an apostrophe; numbers are left alone.
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function csvText(figures, key) {
  const [kind, ...columns] = figures.numbers[key];
  const lines = [figures.headings[kind].map(csvField).join(",")];
  for (let row = 0; row < columns[0].length; row += 1) {
    lines.push(columns.map((column) => csvField(column[row])).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

function save(name, text) {
  const link = document.createElement("a");
  // The mark at the beginning tells spreadsheets that this is UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // Not at once: the browser may still be reading.
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A file name of the heading above and the figure's own, without what file systems refuse.
function fileName(button) {
  const heading = one("h3, h2", button.closest(".card, .part")).textContent;
  const title = one("h4", button.closest("figure"));
  const words = heading + " - " + (title ? title.textContent : "Map of the holes");
  return words.replace(/[\u0000-\u001f\u007f<>:"/\\|?*]/g, "").trim().slice(0, 80) + ".csv";
}

// A packed mark: a path, a ring or a text.
function drawMark(mark) {
  if (mark.length === 2) return draw("path", { class: mark[0], d: mark[1] });
  if (mark.length === 3) return draw("circle", { class: "ring", cx: mark[0], cy: mark[1], r: mark[2] });
  return draw("text", { class: mark[0], "text-anchor": mark[1], x: mark[2], y: mark[3] }, mark[4]);
}

function drawFigure(figures, key, subject) {
  const [title, caption, width, height, alternative, marks] = figures.drawings[key];
  const svg = draw("svg", {
    class: "chart", role: "img", "aria-label": alternative, viewBox: "0 0 " + width + " " + height, width, height,
  });
  svg.append(...marks.map(drawMark));
  const button = make("button", "csv", "Numbers as CSV");
  button.type = "button";
  button.dataset.figure = key;
  button.setAttribute("aria-label", "Numbers as CSV: " + title + ", " + subject);
  const words = make("figcaption", "", caption + " ");
  words.append(button);
  const figure = make("figure", "figure");
  figure.append(make("h4", "", title), svg, words);
  return figure;
}

function drawCard(figures, box) {
  if (box.childElementCount) return;
  const subject = one("h3", box.closest(".card")).textContent;
  box.append(...box.dataset.figures.split(" ").map((key) => drawFigure(figures, key, subject)));
}

function startFigures() {
  const unpacked = unpack();
  unpacked.then((figures) => {
    const boxes = all("[data-figures]");
    for (const box of boxes) {
      const card = box.closest(".card");
      const look = () => { if (card.open) drawCard(figures, box); };
      card.addEventListener("toggle", look);
      look();
    }
    window.addEventListener("beforeprint", () => boxes.forEach((box) => drawCard(figures, box)));
  }, () => document.documentElement.classList.add("packed"));

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-figure]");
    if (button) save(fileName(button), csvText(await unpacked, button.dataset.figure));
  });
}
