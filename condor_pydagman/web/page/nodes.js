// The table of nodes. Rows can be ticked, and commands are for the ticked ones, or for all that match.

import { NODE_COMMANDS, nodesInState, nodesLike, run, someNodes } from "./commands.js";
import { button, el, setText, shown } from "./dom.js";
import { chip, STATES, word } from "./states.js";
import { nameCell, reasonCell, stateCell, Table, textCell } from "./table.js";
import { amount, clock, duration, number } from "./words.js";

function tickCell(cell, row) {
  const box = el("input", { type: "checkbox", tabindex: -1 });
  box.addEventListener("change", () => row.data && row.table.tick(row.data, box.checked));
  cell.append(box);
  return (node) => {
    box.checked = row.table.isSelected(node);
    box.setAttribute("aria-label", `Select ${shown(node.name).slice(0, 200)}`);
  };
}

const COLUMNS = [
  { name: "tick", label: "Chosen", hidden: true, make: tickCell },
  { name: "name", label: "Node", sort: "name", make: nameCell },
  { name: "state", label: "State", sort: "state", make: stateCell },
  {
    name: "attempt", label: "Attempt", sort: "attempt",
    make: textCell(({ attempt }) => (typeof attempt === "number" ? String(attempt + 1) : "")),
  },
  {
    name: "started", label: "Started", sort: "started", descends: true,
    make: textCell(({ started }) => (started ? clock(started) : "")),
  },
  {
    name: "runtime", label: "Ran", sort: "runtime", descends: true,
    make: textCell(({ runtime_s: seconds }) => (typeof seconds === "number" ? duration(seconds) : "")),
  },
  { name: "reason", label: "Reason", make: reasonCell },
];

export class NodeTable extends Table {
  /** @param chooseNode called with the number of a node whose row was opened */
  constructor(live, chooseNode) {
    super(live, {
      noun: "node",
      label: "Nodes",
      search: { label: "Search", placeholder: "Part of a name, or a pattern with * and ?" },
      stateLabel: "State",
      states: STATES,
      word,
      chip,
      stateOf: (node) => live.stateOf(node.number) ?? node.state, // the row may be older
      ask: (wanted) => live.api.get("nodes", wanted),
      columns: COLUMNS,
    });
    this.chooseNode = chooseNode;
    this.opened = null; // number of the node beside
    this.ticked = new Map(); // number of the node: what is known of it
    this.list.element.setAttribute("aria-multiselectable", "true");
    this.element = el("div", { class: "table-view" }, this.filters, this.makeSelection(), this.frame);
  }

  makeSelection() {
    this.words = el("span", { class: "selected-words", role: "status" });
    this.all = button("", () => this.choose(true));
    this.none = button("Clear selection", () => this.choose(false), { class: "quiet" });
    this.buttons = Object.entries(NODE_COMMANDS).map(([command, known]) => button(known.label,
      () => run(this.live, command, this.chosen()), { title: known.tells, "data-command": command }));
    return el("div", { class: "selection" }, this.words, this.all, this.none,
      el("div", { class: "buttons", role: "group", "aria-label": "Commands for the selected nodes" }, this.buttons));
  }

  openRow(node) {
    this.chooseNode(node.number);
  }

  tickRow(node) {
    this.tick(node, !this.ticked.has(node.number));
  }

  isSelected(node) {
    return this.isAll || this.ticked.has(node.number);
  }

  /** The node that is shown beside; null for none. */
  mark(node) {
    this.opened = node;
    this.list.refill();
  }

  want(wanted) {
    this.isAll = false;
    super.want(wanted);
  }

  show() {
    super.show();
    this.showSelection();
  }

  tick(node, on) {
    this.isAll = false;
    if (on) this.ticked.set(node.number, { number: node.number, name: node.name });
    else this.ticked.delete(node.number);
    this.list.refill();
    this.showSelection();
  }

  /** All that match, if the server can be told which those are: by a state or by a pattern, not by both. */
  allMatching() {
    const { search, state } = this.rows.wanted;
    if (state && !search) return nodesInState(state, this.rows.matches);
    if (state) return null;
    return nodesLike(/[*?]/.test(search) ? search : `*${search}*`.replace("**", "*"), this.rows.matches);
  }

  /** All that match, or none. */
  choose(isAll) {
    this.isAll = isAll;
    this.ticked.clear();
    this.list.refill();
    this.showSelection();
  }

  chosen() {
    return this.isAll ? this.allMatching() : someNodes([...this.ticked.values()]);
  }

  showSelection() {
    const { controls } = this.live.overview ?? {};
    const any = this.isAll || this.ticked.size > 0;
    const count = this.isAll ? this.rows.matches : this.ticked.size;
    setText(this.words, any ? `${amount(count, "node")} selected` : "Select nodes to steer them");
    setText(this.all, `Select all ${number(this.rows.matches)}`);
    this.all.hidden = this.isAll || !this.rows.matches || !this.allMatching();
    this.none.hidden = !any;
    for (const one of this.buttons) {
      one.disabled = !any || !controls?.can;
      one.title = controls?.can === false ? shown(controls.why_not) : NODE_COMMANDS[one.dataset.command].tells;
    }
  }
}
