// The limits that a DAG shares with others: how much of each is taken, by this DAG and in all, and what waits for it.

import { el, freshId, name } from "./dom.js";
import { amount, number } from "./words.js";

/** The limits of a DAG; `show(overview)` fills them in. A DAG that shares none shows nothing. */
export function sharedLimits() {
  const title = el("span", { class: "dials-title", id: freshId("shared-limits") }, "Shared limits");
  const list = el("ul", { "aria-labelledby": title.id });
  const element = el("div", { class: "shared-limits", hidden: true }, title, list);
  let shown = "";
  return {
    element,
    show(overview) {
      const limits = overview.shared_limits ?? [];
      const key = JSON.stringify(limits);
      if (key === shown) return;
      shown = key;
      element.hidden = !limits.length;
      list.replaceChildren(...limits.map(row));
    },
  };
}

function row(limit) {
  const others = Math.max(limit.taken - limit.own, 0);
  const words = `${number(limit.taken)} of ${number(limit.most)} ${limit.what} in use, ${number(limit.own)} by this DAG`;
  const waits = limit.waiting > 0 && el("span", { class: "shared-limit-waits" },
    `${amount(limit.waiting, limit.waits)} ${limit.waiting === 1 ? "is" : "are"} waiting`);
  return el("li", { class: "shared-limit" },
    el("span", { class: "share-bar", "aria-hidden": "true" },
      part("own", limit.own, limit.most), part("others", others, limit.most)),
    name(limit.name), el("span", {}, words), waits);
}

function part(whose, taken, most) {
  const element = el("span", { class: `of-${whose}` });
  element.style.width = `${Math.min(100, (100 * taken) / most)}%`;
  return element;
}
