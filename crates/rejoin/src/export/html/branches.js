
(() => {
  const turns = [...document.querySelectorAll(".turn")];
  const up = turns.map((turn) => Number(turn.dataset.up));
  const below = turns.map(() => []);
  up.forEach((parent, at) => parent >= 0 && below[parent].push(at));
  const chosen = [];
  const list = document.getElementById("branches");
  const show = (last) => {
    const path = new Set();
    for (let at = last; at >= 0; at = up[at]) {
      path.add(at);
      if (up[at] >= 0) chosen[up[at]] = at;
    }
    turns.forEach((turn, at) => { turn.hidden = !path.has(at); });
    list.value = String(last);
  };
  const end = (at) => {
    while (below[at].length) at = chosen[at] ?? below[at][below[at].length - 1];
    return at;
  };
  list.addEventListener("change", () => show(Number(list.value)));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-go]");
    if (!button) return;
    const to = Number(button.dataset.go);
    const top = button.getBoundingClientRect().top;
    show(end(to));
    const now = turns[to].querySelector(".fork").getBoundingClientRect().top;
    scrollBy(0, now - top);
    turns[to].querySelector("[data-go]").focus({ preventScroll: true });
  });
  // On paper nothing can be unfolded. Browsers whose folds no style sheet reaches are told so.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => unfolded.forEach((fold) => { fold.open = false; }));
  show(Number(list.value));
  const wanted = turns.findIndex((turn) => "#" + turn.id === location.hash);
  if (wanted >= 0 && turns[wanted].hidden) { show(end(wanted)); turns[wanted].scrollIntoView(); }
})();
