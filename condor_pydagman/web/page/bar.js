// A bar with a part for each state of nodes, and its legend.

import { button, el, setText } from "./dom.js";
import { chip, meaning, stateClass, STATES, word } from "./states.js";
import { amount, number } from "./words.js";

/** An empty bar; `show(counts, total)` gives it its parts. Widths change smoothly where motion is welcome. */
export function bar() {
  const parts = new Map(STATES.map((state) => [state, el("span", { class: `bar-part ${stateClass(state)}` })]));
  const element = el("div", { class: "bar", role: "img" }, [...parts.values()]);
  return {
    element,
    show(counts, total) {
      const all = STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0) || 1;
      const present = STATES.filter((state) => counts[state]);
      for (const [state, part] of parts) {
        part.style.flexGrow = String((counts[state] ?? 0) / all);
        part.hidden = !counts[state];
        part.title = `${word(state)}: ${amount(counts[state] ?? 0, "node")}`;
      }
      const words = present.map((state) => `${number(counts[state])} ${word(state)}`);
      element.setAttribute("aria-label", `${amount(total, "node")}: ${words.join(", ") || "no states known"}`);
    },
  };
}

/** Buttons with the count of each state; `choose(state)` is called by a click. */
export function legend(choose) {
  const parts = new Map(STATES.map((state) => {
    const count = el("b");
    const title = `${meaning(state)}; click to list these nodes`;
    return [state, {
      count,
      button: button([chip(state), count, ` ${word(state)}`], () => choose(state), { class: "legend-part", title }),
    }];
  }));
  const element = el("div", { class: "legend", role: "group", "aria-label": "Nodes by state" },
    [...parts.values()].map((part) => part.button));
  return {
    element,
    show(counts) {
      for (const [state, { button: part, count }] of parts) {
        part.hidden = !counts[state];
        setText(count, number(counts[state] ?? 0));
      }
    },
  };
}
