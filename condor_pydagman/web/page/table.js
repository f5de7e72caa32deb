// The table of nodes: searched, filtered, sorted; of 100,000 rows only those in view exist. Rows can be ticked, and
// commands are for the ticked ones, or for all that match.

import { NODE_COMMANDS, nodesInState, nodesLike, run, someNodes } from "./commands.js";
import { button, calmly, el, freshId, setText, shown } from "./dom.js";
import { Rows } from "./rows.js";
import { STATES, word } from "./states.js";
import { COLUMNS, TableRow } from "./table_row.js";
import { VirtualList } from "./virtual_list.js";
import { amount, number } from "./words.js";

const REFRESH_MS = 2000;
const TYPING_MS = 250;

export class Table {
  /** @param chooseNode called with the number of a node whose row was opened */
  constructor(live, chooseNode) {
    this.live = live;
    this.chooseNode = chooseNode;
    this.ticked = new Map(); // number of the node: what is known of it
    this.rows = new Rows((wanted) => live.api.nodes(wanted), () => this.show());
    this.list = new VirtualList({
      label: "Nodes",
      make: () => new TableRow(this),
      fill: (row, place) => row.fill(this.rows.at(place), place),
      open: (row) => row.node && this.chooseNode(row.node.number),
      tick: (row) => row.node && this.tick(row.node, !this.ticked.has(row.node.number)),
    });
    this.refresh = calmly(() => this.isShown && this.rows.refresh(...this.list.range()), REFRESH_MS);
    this.element = el("div", { class: "table-view" }, this.filters(), this.selection(), this.table());
  }

  filters() {
    const search = calmly(() => this.want({ search: this.search.value }), TYPING_MS);
    const id = freshId("search");
    this.search = el("input", {
      type: "search", id, placeholder: "Part of a name, or a pattern with * and ?", autocomplete: "off", spellcheck: "false",
      maxlength: 1000, oninput: () => search(),
    });
    this.state = el("select", { id: `${id}-state`, onchange: () => this.want({ state: this.state.value }) },
      el("option", { value: "" }, "any state"), STATES.map((state) => el("option", { value: state }, word(state))));
    this.found = el("span", { class: "soft found", role: "status" });
    const form = el("form", { class: "filters", role: "search", "aria-label": "Nodes" },
      el("div", { class: "pair grows" }, el("label", { for: id }, "Search"), this.search),
      el("div", { class: "pair" }, el("label", { for: `${id}-state` }, "State"), this.state), this.found);
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  selection() {
    this.words = el("span", { class: "selected-words", role: "status" });
    this.all = button("", () => this.choose(true));
    this.none = button("Clear selection", () => this.choose(false), { class: "quiet" });
    this.buttons = Object.entries(NODE_COMMANDS).map(([command, known]) => button(known.label,
      () => run(this.live, command, this.chosen()), { title: known.tells, "data-command": command }));
    return el("div", { class: "selection" }, this.words, this.all, this.none,
      el("div", { class: "buttons", role: "group", "aria-label": "Commands for the selected nodes" }, this.buttons));
  }

  table() {
    const head = (name) => ({ role: "columnheader", class: `cell c-${name}` });
    this.heads = COLUMNS.map(({ name, label, sort, hidden }) => el("div", head(name),
      sort ? button(label, () => this.sort(sort), { class: "sort" })
        : el("span", { class: hidden ? "unseen" : null }, label)));
    this.list.element.prepend(el("div", { role: "rowgroup", class: "table-head" },
      el("div", { role: "row", class: "row", "aria-rowindex": 1 }, this.heads)));
    this.message = el("p", { class: "soft table-message" });
    return el("div", { class: "table-frame" }, this.list.element, this.message);
  }

  /** It is in view from now on; `filter` may give a state. */
  open(filter = {}) {
    this.isShown = true;
    if (filter.state !== undefined) {
      this.search.value = "";
      this.want({ state: filter.state, search: "" });
    } else if (!this.rows.isKnown) this.rows.want({});
    else this.refresh();
    this.show();
  }

  hide() {
    this.isShown = false;
  }

  want(wanted) {
    if (wanted.state !== undefined) this.state.value = wanted.state;
    this.isAll = false;
    this.list.toTop();
    this.rows.want(wanted);
  }

  sort(sort) {
    const { sort: old, descending } = this.rows.wanted;
    this.want({ sort, descending: sort === old ? !descending : sort === "runtime" || sort === "started" });
  }

  /** States have changed: rows in view show it at once, and are asked for anew soon. */
  update() {
    if (!this.isShown) return;
    for (const row of this.list.rows()) row.showState();
    this.refresh();
  }

  show() {
    const { wanted, matches, total, error, isKnown } = this.rows;
    this.list.setCount(matches);
    COLUMNS.forEach((column, place) => {
      const order = wanted.descending ? "descending" : "ascending";
      if (column.sort) this.heads[place].setAttribute("aria-sort", column.sort === wanted.sort ? order : "none");
    });
    const isFiltered = wanted.search || wanted.state;
    const found = `${isFiltered ? `${number(matches)} of ` : ""}${amount(total, "node")}`;
    setText(this.found, isKnown ? found : "");
    const none = isKnown && !matches ? "No nodes match." : "";
    setText(this.message, error ? `The nodes can't be shown: ${shown(error.message)}` : none);
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
