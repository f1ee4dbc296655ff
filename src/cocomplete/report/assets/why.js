// Why a cell was filled as it was: start, what observed cells of its row added or took, and where that ends.

const UNITS = { s: "standard deviations", l: "log-odds" };

// Two decimals throughout, so that the column can be added up.
function twoDecimals(amount, plus) {
  const text = Math.abs(amount).toFixed(2);
  if (text === "0.00") return text;
  return (amount < 0 ? "−" : plus ? "+" : "") + text;
}

function pullRow(name, held, amount, most, css) {
  const row = make("tr", css);
  const head = make("th", "", undefined);
  head.scope = "row";
  head.append(make("bdi", "", name));
  if (held) head.append(" ", make("bdi", "held", held));
  const bars = make("td", "pull");
  if (most) {
    const bar = make("span", amount < 0 ? "pull-bar minus-side" : "pull-bar");
    const long = 40 * Math.abs(amount) / most;
    bar.style.left = (amount < 0 ? 42 - long : 42) + "px";
    bar.style.width = long + "px";
    bars.append(make("span", "pull-zero"), bar);
  }
  row.append(head, bars, make("td", "number", twoDecimals(amount, most > 0)));
  return row;
}

function whyTable(why) {
  const [, start, rest, end, , pulls] = why;
  const most = Math.max(...pulls.map((pull) => Math.abs(pull[2])), Math.abs(rest), 1e-12);
  const table = make("table");
  const head = make("thead");
  const titles = make("tr");
  for (const [text, css] of [["observed cell", ""], ["", ""], ["pull", "number"]]) {
    const title = make(text ? "th" : "td", css, text);
    if (text) title.scope = "col";
    titles.append(title);
  }
  head.append(titles);
  const body = make("tbody");
  body.append(pullRow("Start", "nothing known", start, 0, ""));
  for (const [column, value, amount] of pulls) body.append(pullRow(numbers.columns[column][0], value, amount, most, ""));
  body.append(pullRow("All others", "", rest, most, ""));
  body.append(pullRow("End", "", end, 0, "sum"));
  table.append(head, body);
  return table;
}

function showWhy(cell, goBack) {
  const panel = one("[data-why]");
  const title = make("h3");
  title.tabIndex = -1;
  title.append("Why ", make("bdi", "", cell.name), " of ", make("bdi", "", cell.row), " is ", make("bdi", "fill", cell.fill));
  const sure = make("p", "", cell.low !== null
    ? "With 90 % probability it lies between " + cell.low + " and " + cell.high + "."
    : cell.probability !== null ? "The fill is right with a probability of " + percent(cell.probability) + "." : "");
  const parts = [title, sure];
  if (cell.why) {
    parts.push(
      make("h4", "", "What pulled it, in " + UNITS[cell.why[0]]),
      whyTable(cell.why),
      make("p", "range", "This is exact for the posterior average, which is " + percent(cell.why[4]) + " of the answer; other ensemble members make up the rest."),
    );
  } else {
    parts.push(make("p", "range", "The members that answered here do not split into single cells, so no reasons can be given."));
  }
  if (cell.similar.length) {
    parts.push(make("h4", "", "Most similar rows"));
    const list = make("p");
    cell.similar.forEach((row, place) => list.append(place ? ", " : "", make("bdi", "", row)));
    parts.push(list);
  }
  const back = make("button", "back", "Back to the table");
  back.type = "button";
  back.addEventListener("click", goBack);
  parts.push(back);
  panel.replaceChildren(...parts);
  panel.onkeydown = (event) => {
    if (event.key === "Escape") goBack();
  };
  title.focus();
}
