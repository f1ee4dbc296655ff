// Search and order among columns and labels.

const ORDERS = {
  given: (a, b) => a.place - b.place,
  filled: (a, b) => b.filled - a.filled || a.place - b.place,
  error: (a, b) => b.error - a.error || a.place - b.place,
  name: (a, b) => a.name.localeCompare(b.name),
};

function startFinder(finder) {
  const box = one('[data-cards="' + finder.dataset.finder + '"]');
  const search = one("input", finder);
  const order = one("select", finder);
  const says = one(".found", finder);
  const noun = finder.dataset.finder.slice(0, -1);
  const cards = all(".card", box).map((element, place) => ({
    element,
    place,
    name: one("h3", element).textContent,
    found: folded(one("h3", element).textContent + " " + one(".kind", element)?.textContent),
    filled: Number(element.dataset.filled),
    error: Number(element.dataset.error || -1),
  }));

  search.addEventListener("input", () => {
    const words = folded(search.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      card.element.hidden = !words.every((word) => card.found.includes(word));
      if (!card.element.hidden) shown += 1;
    }
    says.textContent = shown === cards.length ? counted(shown, noun) : count(shown) + " of " + counted(cards.length, noun);
  });

  order.addEventListener("change", () => {
    box.append(...cards.slice().sort(ORDERS[order.value]).map((card) => card.element));
  });

  const button = one("[data-open]", finder);
  button?.addEventListener("click", () => {
    const open = button.textContent === "Open all";
    for (const card of cards) if (!card.element.hidden) card.element.open = open;
    button.textContent = open ? "Close all" : "Open all";
  });
}
