// The list of DAGs: one card each, with how far it is.

import { dags } from "./api.js";
import { bar } from "./bar.js";
import { el, name } from "./dom.js";
import { chip, countsOf, showStanding, STATES, word } from "./states.js";
import { clock, duration, number, percent } from "./words.js";

const POLL_MS = 5000;
const NONE = "You have no DAG in the queue. Submit one with condor_pydagman run, or name one that has ended: "
  + "condor_pydagman web my.dag.";

/** Show the list in `place`, until the function that is returned is called. */
export function startDagList(place, setLink) {
  const list = el("ul", { class: "dags", "aria-label": "DAGs" });
  const empty = el("p", { class: "soft" }, "Looking for DAGs…");
  place.replaceChildren(el("h1", {}, "DAGs"), empty, list);
  const cards = new Map();
  let timer = 0;
  let stopped = false;
  let failures = 0;

  const update = async () => {
    clearTimeout(timer);
    try {
      const found = (await dags()).dags;
      if (stopped) return;
      show(found, cards, list);
      empty.hidden = found.length > 0;
      empty.textContent = NONE;
      failures = 0;
      setLink({ state: "live" });
    } catch (error) {
      if (stopped) return;
      failures += 1;
      setLink({ state: error.status === 403 ? "unknown" : "away", sentence: error.message,
        retryAt: Date.now() + POLL_MS * Math.min(failures, 6) });
    }
    if (!document.hidden) timer = setTimeout(update, POLL_MS * Math.min(Math.max(failures, 1), 6));
  };
  const seen = () => !document.hidden && update();
  document.addEventListener("visibilitychange", seen);
  update();
  return {
    retryNow: update,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    },
  };
}

function show(found, cards, list) {
  for (const [id, card] of cards) {
    if (!found.some((dag) => dag.id === id)) {
      card.element.remove();
      cards.delete(id);
    }
  }
  for (const dag of found) {
    if (!cards.has(dag.id)) {
      cards.set(dag.id, makeCard(dag));
      list.append(cards.get(dag.id).element);
    }
    cards.get(dag.id).show(dag);
  }
}

function makeCard(dag) {
  const progress = bar();
  const state = el("span", { class: "dag-state" });
  const shares = el("p", { class: "soft card-words" });
  const words = el("p", { class: "soft card-words" });
  const element = el("li", {},
    el("a", { class: "card", href: `#/${encodeURIComponent(dag.id)}` },
      el("div", { class: "card-head" }, name(dag.file, { class: "name card-name" }), state),
      name(dag.directory, { class: "name soft directory" }), progress.element, shares, words));
  return {
    element,
    show(now) {
      const counts = countsOf(now);
      showStanding(state, now.state, counts);
      progress.show(counts, now.total);
      shares.replaceChildren(...STATES.filter((one) => counts[one]).map((one) => el("span", { class: "card-share" },
        chip(one), ` ${number(counts[one])} ${word(one)}`)));
      words.textContent = describe(now);
    },
  };
}

function describe(dag) {
  const parts = [`${number(dag.done)} of ${number(dag.total)} nodes done, ${percent(dag.done, dag.total)}`];
  if (dag.cluster) parts.push(`job ${dag.cluster}`);
  if (dag.started) parts.push(`started ${clock(dag.started)}`);
  const left = dag.ends_about ? dag.ends_about - Date.now() / 1000 : 0;
  if (left > 0) parts.push(`about ${duration(left)} left`);
  return parts.join(" · ");
}
