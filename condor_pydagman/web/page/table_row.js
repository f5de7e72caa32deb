// One row of the table of nodes.

import { el, setText, shown } from "./dom.js";
import { chip, word } from "./states.js";
import { clock, duration } from "./words.js";

export const COLUMNS = [
  { name: "tick", label: "Chosen", hidden: true },
  { name: "name", label: "Node", sort: "name" },
  { name: "state", label: "State", sort: "state" },
  { name: "attempt", label: "Attempt", sort: "attempt" },
  { name: "started", label: "Started", sort: "started" },
  { name: "runtime", label: "Ran", sort: "runtime" },
  { name: "reason", label: "Reason" },
];

export class TableRow {
  constructor(table) {
    this.table = table;
    this.box = el("input", { type: "checkbox", tabindex: -1 });
    this.box.addEventListener("change", () => this.node && table.tick(this.node, this.box.checked));
    const cell = (name) => el("div", { role: "gridcell", class: `cell c-${name}` });
    this.cells = Object.fromEntries(COLUMNS.map(({ name }) => [name, cell(name)]));
    this.cells.tick.append(this.box);
    this.name = el("bdi", { class: "name" });
    this.cells.name.append(this.name);
    this.chip = el("span", { class: "chip-place" });
    this.word = el("span", { class: "state-word" });
    this.cells.state.append(this.chip, this.word);
    this.element = el("div", { role: "row", class: "row", tabindex: -1 }, Object.values(this.cells));
  }

  /** Show a node; undefined is one that is still on its way. */
  fill(node, place) {
    this.node = node;
    this.element.setAttribute("aria-rowindex", place + 2);
    this.element.classList.toggle("on-its-way", !node);
    const isTicked = Boolean(node) && (this.table.isAll || this.table.ticked.has(node.number));
    this.box.checked = isTicked;
    this.box.disabled = !node;
    this.element.setAttribute("aria-selected", String(isTicked));
    const name = shown(node?.name);
    setText(this.name, name.length > 500 ? `${name.slice(0, 500)}…` : name);
    this.name.title = name.slice(0, 2000);
    this.box.setAttribute("aria-label", `Select ${name.slice(0, 200)}`);
    setText(this.cells.attempt, typeof node?.attempt === "number" ? String(node.attempt + 1) : "");
    setText(this.cells.started, node?.started ? clock(node.started) : "");
    setText(this.cells.runtime, typeof node?.runtime_s === "number" ? duration(node.runtime_s) : "");
    setText(this.cells.reason, shown(node?.reason).slice(0, 300));
    this.cells.reason.title = shown(node?.reason).slice(0, 2000);
    this.element.classList.toggle("opened", Boolean(node) && this.table.selected === node.number);
    this.showState();
  }

  /** The state as it is now, which may be newer than the row. */
  showState() {
    const state = this.node ? this.table.live.stateOf(this.node.number) ?? this.node.state : "";
    if (state === this.state) return;
    this.state = state;
    this.chip.replaceChildren(...(state ? [chip(state)] : []));
    setText(this.word, state ? word(state) : "");
  }
}
