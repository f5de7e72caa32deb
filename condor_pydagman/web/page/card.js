// A card with all that is known of one thing of the DAG, a node or a group, which is asked for again and again.

import { button, calmly, el, focusedIn, name, shown } from "./dom.js";
import { chip, word } from "./states.js";
import { number } from "./words.js";

const REFRESH_MS = 1500;

export class Card {
  /**
   * @param kind `noun`; `tag` and `className` of the element; `ask(number)` the server; `failure`, what is said if that
   *   fails; `close()` is called when the person wants it closed
   */
  constructor(live, kind) {
    this.live = live;
    this.kind = kind;
    this.number = null; // of what it shows
    this.title = el("h2", { tabindex: -1 });
    this.message = el("p", { class: "soft", role: "status" });
    this.content = el("div");
    const label = kind.noun[0].toUpperCase() + kind.noun.slice(1);
    this.head = el("div", { class: "details-head" }, this.title,
      button("×", () => kind.close(), { class: "quiet close", "aria-label": `Close the ${kind.noun}` }));
    this.element = el(kind.tag, { class: kind.className, "aria-label": label, hidden: true },
      this.head, this.message, this.content);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && kind.close());
    this.refresh = calmly(() => this.load(), REFRESH_MS);
  }

  /** Show another one; returns when it is there. */
  async open(number) {
    if (this.number !== number) {
      this.number = number;
      this.title.replaceChildren("…");
      this.content.replaceChildren();
    }
    this.element.hidden = false;
    await this.load();
  }

  close() {
    this.number = null;
    this.element.hidden = true;
  }

  async load() {
    const { number: wanted } = this;
    if (wanted === null) return;
    try {
      const answer = await this.kind.ask(wanted);
      if (wanted !== this.number) return;
      this.message.textContent = shown(answer.problem);
      this.show(answer);
    } catch (error) {
      if (wanted === this.number) this.message.textContent = `${this.kind.failure}: ${shown(error.message)}`;
    }
  }

  /** Show what the server has answered. */
  show(_answer) {}

  showName(text) {
    if (this.shownName !== text || !this.title.querySelector("bdi")) this.title.replaceChildren(name(text));
    this.shownName = text;
  }

  /** Other content; what has the focus, and what has been scrolled to, stays. */
  fill(...parts) {
    const top = this.element.scrollTop;
    const focused = focusedIn(this.content)?.dataset.key;
    this.content.replaceChildren(...parts);
    this.element.scrollTop = top;
    if (!focused) return;
    const again = [...this.content.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
    again?.focus({ preventScroll: true });
  }
}

/** Names and values, without those that have none; null if none has. */
export function facts(rows, className = "") {
  const present = rows.filter(([, value]) => value);
  if (!present.length) return null;
  return el("dl", { class: `facts ${className}` },
    present.flatMap(([key, value]) => [el("dt", {}, key), el("dd", { dir: "auto" }, value)]));
}

/** Entries of a list of `all` nodes, each a button: the first ones, and how many more there are. */
export function nodeEntries(live, nodes, all, choose) {
  return [...nodes.map((node) => {
    const state = live.stateOf(node.number) ?? node.state;
    return el("li", {}, button([chip(state), name(node.name), el("span", { class: "unseen" }, ` ${word(state)}`)],
      () => choose(node.number), { class: "near", "data-key": `node ${node.number}` }));
  }), all > nodes.length ? el("li", { class: "soft" }, `and ${number(all - nodes.length)} more`) : null];
}
