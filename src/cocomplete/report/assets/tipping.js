// What a shift of all filled values of a column would do to its mean, or to a label's rate.

const LINE = { most: 640, height: 92, margin: 12, y: 46 };

function tippingCase(place) {
  const [name, column, part, mean, text, error, share, sd, delta] = numbers.tipping[place];
  const date = part === "mean" && numbers.columns[column][1] === "date";
  return { name, part, mean, text, error, share, sd, delta, date };
}

// Where the mean goes; a rate stays between 0 and 1.
function shiftedMean(chosen, shift) {
  const moved = chosen.mean + chosen.share * shift * chosen.sd;
  return chosen.part === "rate" ? Math.min(Math.max(moved, 0), 1) : moved;
}

function meanText(chosen, value) {
  if (chosen.part === "rate") return (100 * value).toFixed(1) + "\u00a0%";
  if (chosen.date) return new Date(Math.round(value) * 864e5).toISOString().slice(0, 10);
  // As many digits as let the error be seen.
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(chosen.error || 1)), 0), 6);
  return value.toFixed(decimals).replace("-", "−");
}

function errorText(chosen) {
  if (chosen.part === "rate") return (100 * chosen.error).toFixed(1) + "\u00a0%";
  return short(chosen.error) + (chosen.date ? " days" : "");
}

function tippingSentence(chosen, shift) {
  const what = (chosen.part === "rate" ? "the rate of " : "the mean of ") + chosen.name;
  const point = chosen.delta === null ? "" : " The tipping point is ±" + short(chosen.delta) + " standard deviations.";
  if (shift === 0) return "As filled, " + what + " is " + meanText(chosen, chosen.mean) + " ± " + errorText(chosen) + "." + point;
  const moved = shiftedMean(chosen, shift);
  const beyond = Math.abs(moved - chosen.mean) > chosen.error * (1 + 1e-9);
  return "If the filled values were " + short(Math.abs(shift)) + " standard deviation" + (Math.abs(shift) === 1 ? " " : "s ") + (shift > 0 ? "higher" : "lower") + ", " +
    what + " would be " + meanText(chosen, moved) + " instead of " + meanText(chosen, chosen.mean) + ": " +
    (beyond ? "more" : "no more") + " than its error of ±" + errorText(chosen) + "." + point;
}

// How far the slider goes: past the tipping point, where that is within three standard deviations.
function tippingReach(chosen) {
  return Math.min(Math.max(Math.ceil(3 * (chosen.delta ?? 1)), 1), 3);
}

// A number line: the band of the error, the mean as filled (ring), and as shifted (triangle).
function tippingChart(chosen, shift, room) {
  const width = Math.min(room, LINE.most); // one to one, so that its text is as large on a phone
  const reach = 1.1 * Math.max(tippingReach(chosen) * chosen.share * chosen.sd, chosen.error) || 1;
  const at = (value) => width / 2 + (value - chosen.mean) / reach * (width / 2 - LINE.margin);
  const moved = at(shiftedMean(chosen, shift));
  const svg = draw("svg", {
    class: "chart shift-line", role: "img", viewBox: "0 0 " + width + " " + LINE.height, width, height: LINE.height,
    "aria-label": tippingSentence(chosen, shift),
  });
  const band = [at(chosen.mean - chosen.error), at(chosen.mean + chosen.error)];
  svg.append(
    draw("rect", { class: "error-band", x: band[0], y: LINE.y - 16, width: band[1] - band[0], height: 32 }),
    draw("path", { class: "axis", d: "M" + LINE.margin + " " + LINE.y + "H" + (width - LINE.margin) }),
    draw("text", { class: "tick", x: (band[0] + band[1]) / 2, y: LINE.y + 34, "text-anchor": "middle" }, "within its error"),
    draw("path", { class: "filled-line", d: "M" + at(chosen.mean) + " " + LINE.y + "H" + moved }),
    draw("circle", { class: "ring", cx: at(chosen.mean), cy: LINE.y, r: 5 }),
    draw("path", { class: "shifted", d: "M" + moved + " " + (LINE.y - 4) + "l-7 -14h14z" }),
    draw("text", {
      class: "name", x: Math.min(Math.max(moved, 40), width - 40), y: LINE.y - 26, "text-anchor": "middle",
    }, meanText(chosen, shiftedMean(chosen, shift))),
  );
  return svg;
}

function startTipping() {
  const box = one("[data-tipping]");
  if (!box) return;
  const column = one("[data-tipping-column]", box);
  const slider = one("[data-tipping-shift]", box);
  const show = (event) => {
    const chosen = tippingCase(Number(column.value));
    const reach = tippingReach(chosen);
    slider.min = -reach;
    slider.max = reach;
    if (event && event.target === column) slider.value = 0;
    one("[data-tipping-low]", box).textContent = signed(-reach);
    one("[data-tipping-high]", box).textContent = signed(reach);
    const shift = Number(slider.value);
    slider.setAttribute("aria-valuetext", signed(shift) + " standard deviations");
    const figure = one("[data-tipping-chart]", box);
    figure.replaceChildren(tippingChart(chosen, shift, figure.clientWidth || LINE.most));
    one("[data-tipping-says]", box).textContent = tippingSentence(chosen, shift);
  };
  slider.addEventListener("input", show);
  column.addEventListener("change", show);
  window.addEventListener("resize", show);
  box.hidden = false;
  show();
}
