// The table of filled cells: search, order, filters; only the rows in sight are in the page.

const OVER = 6; // rows kept above and below those in sight, so that scrolling shows no gaps

function readCells() {
  return numbers.cells.map(([row, column, fill, low, high, probability, certainty, why, similar], place) => {
    const name = numbers.columns[column][0];
    const range = low !== null ? low + " to " + high : probability !== null ? percent(probability) : "";
    return {
      place, row, column, name, fill, low, high, probability, certainty, why, similar, range,
      found: folded(row + "\n" + name + "\n" + fill),
    };
  });
}

// Numbers, also with a unit behind them, by size and before words; everything else as words with numbers in them.
const NUMBER = /^[+-]?\d*\.?\d+(?:e[+-]?\d+)?\D*$/i;

function compareValues(a, b) {
  const sizes = [a, b].map((text) => (NUMBER.test(text) ? parseFloat(text) : Infinity));
  return sizes[0] === sizes[1] ? collator.compare(a, b) : sizes[0] < sizes[1] ? -1 : 1;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const SORTS = {
  row: (a, b) => collator.compare(a.row, b.row),
  column: (a, b) => collator.compare(a.name, b.name),
  fill: (a, b) => compareValues(a.fill, b.fill),
  range: (a, b) => (a.low === null ? a.probability - 1 : 0) - (b.low === null ? b.probability - 1 : 0) ||
    compareValues(a.low ?? "", b.low ?? ""),
  certainty: (a, b) => a.certainty - b.certainty,
};

function startCells() {
  const browse = one("[data-browse]");
  if (!browse) return;
  browse.hidden = false;
  const cells = readCells();
  const body = one("[data-grid-body]", browse);
  const space = one("[data-grid-space]", browse);
  const grid = one("[data-grid]", browse);
  const controls = {
    search: one("[data-cells-search]", browse),
    column: one("[data-cells-column]", browse),
    certainty: one("[data-cells-certainty]", browse),
  };
  let shown = [];
  let order = { by: "certainty", down: false };
  let current = 0; // the row that the keyboard is at
  let chosen = null; // the cell whose why is open
  let height = 40;

  const columns = Array.from(new Set(cells.map((cell) => cell.column))).sort((a, b) => a - b);
  for (const column of columns) controls.column.append(new Option(numbers.columns[column][0], column));

  function choose() {
    const words = folded(controls.search.value).split(/\s+/).filter(Boolean);
    const most = Number(controls.certainty.value) / 100;
    const column = controls.column.value;
    shown = cells.filter((cell) =>
      cell.certainty <= most + 1e-9 &&
      (column === "" || cell.column === Number(column)) &&
      words.every((word) => cell.found.includes(word)));
    const compare = SORTS[order.by];
    shown.sort((a, b) => (order.down ? compare(b, a) : compare(a, b)) || a.place - b.place);
    current = Math.max(shown.indexOf(chosen), 0);
    const limit = controls.certainty.value + "\u00a0%";
    one("[data-cells-certainty-says]", browse).textContent = limit;
    controls.certainty.setAttribute("aria-valuetext", limit);
    one("[data-cells-found]", browse).textContent = shown.length === cells.length
      ? counted(cells.length, "cell")
      : count(shown.length) + " of " + counted(cells.length, "cell");
    grid.setAttribute("aria-rowcount", shown.length + 1);
    body.scrollTop = 0;
    measure();
  }

  function measure() {
    height = parseFloat(getComputedStyle(grid).getPropertyValue("--row")) || 40;
    space.style.height = shown.length * height + "px";
    paint();
  }

  function rowOf(cell, place) {
    const row = make("div", "grid-row");
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", place + 2);
    row.setAttribute("aria-selected", String(cell === chosen));
    row.tabIndex = place === current ? 0 : -1;
    row.dataset.place = place;
    row.style.top = place * height + "px";
    const sure = make("span", "sure");
    const track = make("span", "sure-track");
    const bar = make("span", "sure-bar");
    bar.style.width = 100 * Math.min(Math.max(cell.certainty, 0), 1) + "%";
    track.append(bar);
    sure.append(track, make("span", "sure-number", percent(cell.certainty)));
    const texts = [make("span", "", cell.row), make("span", "", cell.name), make("span", "fill", cell.fill), make("span", "range", cell.range), sure];
    for (const text of texts) {
      text.setAttribute("role", "gridcell");
      if (text !== sure) {
        text.dir = "auto";
        text.title = text.textContent;
      }
    }
    row.append(...texts);
    return row;
  }

  function paint() {
    const focused = body.contains(document.activeElement) && document.activeElement !== body;
    const first = Math.max(Math.floor(body.scrollTop / height) - OVER, 0);
    const last = Math.min(Math.ceil((body.scrollTop + body.clientHeight) / height) + OVER, shown.length);
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(rowOf(shown[place], place));
    // The row that has the keyboard stays in the page wherever one scrolls, or Tab would lose its place.
    if (shown.length && (current < first || current >= last)) rows.push(rowOf(shown[current], current));
    space.replaceChildren(...(shown.length ? rows : [make("p", "empty", "No filled cell is like that.")]));
    if (focused) focusCurrent(false);
  }

  function focusCurrent(scroll) {
    if (scroll) {
      const top = current * height;
      if (top < body.scrollTop) body.scrollTop = top;
      if (top + height > body.scrollTop + body.clientHeight) body.scrollTop = top + height - body.clientHeight;
      paint();
    }
    one('[data-place="' + current + '"]', space)?.focus({ preventScroll: true });
  }

  function open(place) {
    current = place;
    chosen = shown[place];
    paint();
    showWhy(chosen, () => {
      body.scrollIntoView({ block: "nearest" });
      focusCurrent(true);
    });
  }

  const page = () => Math.max(Math.floor(body.clientHeight / height) - 1, 1);
  const MOVES = {
    ArrowDown: () => current + 1,
    ArrowUp: () => current - 1,
    PageDown: () => current + page(),
    PageUp: () => current - page(),
    Home: () => 0,
    End: () => shown.length - 1,
  };

  body.addEventListener("keydown", (event) => {
    if (!shown.length || event.altKey || event.metaKey) return;
    if (MOVES[event.key]) {
      current = Math.min(Math.max(MOVES[event.key](), 0), shown.length - 1);
      focusCurrent(true);
    } else if (event.key === "Enter" || event.key === " ") {
      open(current);
    } else {
      return;
    }
    event.preventDefault();
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("[data-place]");
    if (row) open(Number(row.dataset.place));
  });

  let waiting = false;
  body.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }, { passive: true });
  window.addEventListener("resize", measure);

  function showOrder() {
    for (const button of all("[data-sort]", browse)) {
      const mine = button.dataset.sort === order.by;
      button.parentElement.setAttribute("aria-sort", mine ? (order.down ? "descending" : "ascending") : "none");
    }
  }
  for (const button of all("[data-sort]", browse)) {
    button.addEventListener("click", () => {
      order = { by: button.dataset.sort, down: order.by === button.dataset.sort && !order.down };
      showOrder();
      choose();
    });
  }
  for (const control of Object.values(controls)) control.addEventListener("input", choose);
  showOrder();
  choose();
}
