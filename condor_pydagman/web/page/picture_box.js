// One box of the picture: a node with the sign of its state, a stack of nodes with their shares, or a point where edges
// meet.

import { shown, svg } from "./dom.js";
import { countedAs, known, signPath, stateClass, STATES, word, worstOf } from "./states.js";
import { amount, number } from "./words.js";

const CHIP = 18;
const TEXT_SIZE = 12;
const DOT = 14; // a box that is smaller has no room for words
const LEAST = 3; // of the share of a state in a stack, so that one node among thousands is seen
const SHEET = 4; // how far the sheets of a stack stick out

/** `40 nodes: 30 done, 10 running`. */
function sharesInWords(states, count) {
  const present = STATES.filter((state) => states[state]);
  const words = present.map((state) => `${number(states[state])} ${word(state)}`);
  return `${amount(count, "node")}${words.length ? `: ${words.join(", ")}` : ""}`;
}

function singleState(states) {
  const present = Object.keys(states ?? {}).filter((state) => states[state]);
  return present.length === 1 ? known(present[0]) : null;
}

export class PictureBox {
  constructor(box) {
    this.box = box;
    this.where = ""; // its sites, in words
    this.isFolded = Boolean(box.group) && typeof box.node !== "number";
    this.isDot = Math.min(box.w, box.h) < DOT;
    this.title = svg("title");
    this.element = svg("g", { class: "box", tabindex: -1, role: "button", "data-box": box.id });
    this.element.setAttribute("transform", `translate(${box.x} ${box.y})`);
    this.element.append(this.title, ...(this.isDot ? this.dot() : this.isFolded ? this.stack() : this.single()));
    this.take(box);
  }

  dot() {
    const { w, h } = this.box;
    return [svg("circle", { class: "chip-ground", cx: w / 2, cy: h / 2, r: Math.min(w, h) / 2 })];
  }

  single() {
    const { w, h, outline, inset = 0, words = "" } = this.box;
    this.sign = svg("path", { class: "sign", transform: `translate(${inset + 8} ${h / 2 - 6})` });
    this.label = svg("text", { class: "label", x: inset + CHIP + 11, y: h / 2 + 4.3 }, shown(this.box.label));
    const end = { x: w - inset - 8, y: h / 2 + 4.3, "text-anchor": "end" };
    this.beside = svg("text", { class: "words", ...end }, shown(words));
    this.room = w - 2 * inset - CHIP - 17;
    const plain = { class: "body", width: w, height: h, rx: 6 };
    return [outline ? svg("path", { class: "body", d: outline }) : svg("rect", plain),
      svg("rect", { class: "chip-ground", x: inset + 5, y: h / 2 - CHIP / 2, width: CHIP, height: CHIP, rx: 4 }),
      this.sign, this.label, this.beside];
  }

  stack() {
    const { w, h } = this.box;
    const wide = w - 2 * SHEET;
    const high = h - 2 * SHEET;
    this.label = svg("text", { class: "label strong", x: 12, y: 2 * SHEET + high / 2 - 6 }, shown(this.box.label));
    this.words = svg("text", { class: "words", x: 12, y: 2 * SHEET + high / 2 + 8 });
    this.room = wide - 20;
    this.wide = wide - 16;
    this.shares = svg("g", { transform: `translate(8 ${h - 11})` });
    this.parts = new Map();
    return [svg("rect", { class: "sheet", x: 2 * SHEET, width: wide, height: high, rx: 6 }),
      svg("rect", { class: "sheet", x: SHEET, y: SHEET, width: wide, height: high, rx: 6 }),
      svg("rect", { class: "body", y: 2 * SHEET, width: wide, height: high, rx: 6 }),
      this.label, this.words, this.shares];
  }

  /** What the server says of it now. */
  take(box) {
    this.box = box;
    if (this.isFolded) this.setShares(box.states ?? {});
    else this.setState(singleState(box.states) ?? "waiting", false);
  }

  /** @param isNews whether it is a change that somebody may want to see */
  setState(state, isNews) {
    if (!state || state === this.state) return;
    this.state = state;
    this.paint(stateClass(state));
    this.sign?.setAttribute("d", signPath(state));
    this.tell();
    if (!isNews) return;
    this.element.classList.remove("news");
    this.element.getBBox(); // lets the animation begin anew
    this.element.classList.add("news");
  }

  /** What it says of its sites from now on. */
  setWhere(where) {
    if (where === this.where) return;
    this.where = where;
    this.tell();
  }

  /** Name, state and sites, for the mouse and for screen readers. */
  tell() {
    const label = shown(this.box.label);
    const told = [this.isFolded ? this.told : word(this.state), this.box.words, this.where].filter(Boolean);
    this.title.textContent = this.isFolded ? [label, ...told, "Click to unfold"].join("\n") : `${label}: ${told.join(", ")}`;
    const words = this.isFolded ? `${label}, ${told.join(", ")}. Unfold` : `${label}: ${told.join(", ")}`;
    this.element.setAttribute("aria-label", words);
  }

  paint(className) {
    for (const old of [...this.element.classList]) if (old.startsWith("s-")) this.element.classList.remove(old);
    this.element.classList.add(className);
  }

  setShares(states) {
    const key = JSON.stringify(states);
    if (key === this.key) return;
    this.key = key;
    const look = singleState(states) ?? worstOf(states);
    this.paint(look ? stateClass(look) : "s-mixed");
    const total = Object.values(states).reduce((sum, count) => sum + count, 0) || 1;
    const spare = this.wide - LEAST * STATES.filter((state) => states[state]).length;
    let x = 0;
    for (const state of STATES) {
      const count = states[state] ?? 0;
      this.setPart(state, x, (x += count && LEAST + (spare * count) / total));
    }
    this.told = sharesInWords(states, this.box.count ?? total);
    this.words.textContent = this.shortWords(states);
    this.tell();
    if (this.hasLabel) fit(this.words, this.room, 10);
  }

  setPart(state, from, to) {
    if (to <= from && !this.parts.has(state)) return;
    if (!this.parts.has(state)) {
      this.parts.set(state, svg("rect", { class: `share ${stateClass(state)}`, height: 5 }));
      this.shares.append(this.parts.get(state));
    }
    this.parts.get(state).setAttribute("x", from.toFixed(2));
    this.parts.get(state).setAttribute("width", Math.max(to - from, 0).toFixed(2));
  }

  /** What matters most: how many, how many have failed, how many run. */
  shortWords(states) {
    const { count: nodes = 0, kind = "JOB" } = this.box;
    const words = [amount(nodes, kind === "JOB" ? "node" : `${kind} node`)];
    for (const state of ["failed", "held", "running", ...countedAs("done")]) {
      const count = states[state] ?? 0;
      if (count) words.push(`${count === this.box.count ? "all" : number(count)} ${word(state)}`);
    }
    return words.slice(0, 3).join(" · ");
  }

  /** Shorten the words to the box; only when it is in the page, as nobody can measure before. */
  fitLabel() {
    this.hasLabel = true;
    const beside = this.box.words ? this.beside.getComputedTextLength() + 6 : 0;
    if (this.label) fit(this.label, this.room - beside, TEXT_SIZE);
    if (this.words) fit(this.words, this.room, 10);
  }
}

function fit(text, room, size) {
  const full = text.textContent;
  if (full.length * size * 0.35 < room && text.getComputedTextLength() <= room) return;
  let least = 0;
  let most = Math.min(full.length, Math.ceil(room / 2));
  const characters = [...full];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    text.textContent = `${characters.slice(0, middle).join("")}…`;
    if (text.getComputedTextLength() <= room) least = middle;
    else most = middle - 1;
  }
  text.textContent = least >= characters.length ? full : `${characters.slice(0, least).join("")}…`;
}
