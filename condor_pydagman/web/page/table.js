// A table: its rows are searched, filtered and sorted by the server and asked for in pages; of 100,000 rows only those in
// view exist. Which rows, and what of them, says whoever makes one (`nodes.js`, `groups.js`).

import { ApiError } from "./api.js";
import { button, calmly, el, freshId, setText, shown } from "./dom.js";
import { VirtualList } from "./virtual_list.js";
import { amount, number } from "./words.js";

const REFRESH_MS = 2000;
const TYPING_MS = 250;
const PAGE = 100; // rows that are asked for at a time
const KEPT = 12; // pages
const MAX_NAME = 500; // characters
const MAX_TEXT = 300;
const MAX_TITLE = 2000;

/** The cell of a row's name. */
export function nameCell(cell) {
  const words = el("bdi", { class: "name" });
  cell.append(words);
  return ({ name }) => {
    const text = shown(name);
    setText(words, text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text);
    words.title = text.slice(0, MAX_TITLE);
  };
}

/** The cell of a row's state: sign and word, as the kind of the table has them. */
export function stateCell(cell, { table: { kind } }) {
  const sign = el("span", { class: "chip-place" });
  const words = el("span", { class: "state-word clip" });
  cell.append(sign, words);
  let known = null;
  return (row) => {
    const state = kind.stateOf(row);
    if (state === known) return;
    known = state;
    sign.replaceChildren(kind.chip(state));
    setText(words, kind.word(state));
    cell.title = kind.meaning ? `${kind.word(state)}: ${kind.meaning(state)}` : "";
  };
}

/** A cell of words; `title` is shown to the mouse. */
export const textCell = (text, title = (_row) => "") => (cell) => {
  const words = el("span", { class: "clip" });
  cell.append(words);
  return (row) => {
    setText(words, text(row));
    cell.title = title(row);
  };
};

/** The cell of why a row is as it is. */
export const reasonCell = textCell(({ reason }) => shown(reason).slice(0, MAX_TEXT),
  ({ reason }) => shown(reason).slice(0, MAX_TITLE));

export class Table {
  /**
   * @param kind what it is a table of: `noun`; `label` of the whole; `search`, its label and placeholder; `stateLabel`,
   *   and `hidesStateLabel` if only screen readers get that; `states`, `word`, `chip`, perhaps `meaning` of a state, and
   *   `stateOf(row)`; `ask(wanted)` the server; `typingMs`, after which it is asked for what is typed; `rowHeight()`, as of
   *   VirtualList; `columns`: of each its `name`, `label`, whether this is `hidden`, what the
   *   server calls it to `sort` by it, whether that `descends` at first, and `make(cell, row)`, which returns what shows
   *   the data of a row in the cell
   */
  constructor(live, kind) {
    this.live = live;
    this.kind = kind;
    this.rows = new Rows(kind.ask, () => this.show());
    this.list = new VirtualList({
      label: kind.label,
      make: () => new Row(this),
      fill: (row, place) => row.fill(this.rows.at(place), place),
      open: (row) => row.data && this.openRow(row.data),
      tick: (row) => row.data && this.tickRow(row.data),
      rowHeight: kind.rowHeight,
    });
    this.refresh = calmly(() => this.isShown && this.rows.refresh(...this.list.range()), REFRESH_MS);
    this.filters = this.makeFilters();
    this.frame = this.makeFrame();
  }

  /** A row is chosen. */
  openRow(_row) {}

  /** A row is ticked. */
  tickRow(_row) {}

  makeFilters() {
    const { label, search: words, stateLabel, hidesStateLabel, states, word, typingMs = TYPING_MS } = this.kind;
    const search = calmly(() => this.want({ search: this.search.value }), typingMs);
    const id = freshId("search");
    this.search = el("input", {
      type: "search", id, placeholder: words.placeholder, autocomplete: "off", spellcheck: "false", maxlength: 1000,
      oninput: () => search(),
    });
    this.state = el("select", { id: `${id}-state`, onchange: () => this.want({ state: this.state.value }) },
      el("option", { value: "" }, "any state"), states.map((state) => el("option", { value: state }, word(state))));
    this.found = el("span", { class: "soft found", role: "status" });
    const form = el("form", { class: "filters", role: "search", "aria-label": label },
      el("div", { class: "pair grows" }, el("label", { for: id }, words.label), this.search),
      el("div", { class: "pair" },
        el("label", { for: `${id}-state`, class: hidesStateLabel ? "unseen" : null }, stateLabel), this.state), this.found);
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  makeFrame() {
    this.heads = this.kind.columns.map(({ name, label, sort, descends = false, hidden }) => el("div",
      { role: "columnheader", class: `cell c-${name}` },
      sort ? button(label, () => this.sort(sort, descends), { class: "sort" })
        : el("span", { class: hidden ? "unseen" : null }, label)));
    this.list.element.prepend(el("div", { role: "rowgroup", class: "table-head" },
      el("div", { role: "row", class: "row", "aria-rowindex": 1 }, this.heads)));
    this.message = el("p", { class: "soft table-message" });
    return el("div", { class: "table-frame" }, this.list.element, this.message);
  }

  /** It is in view from now on; `state` is to be filtered by. */
  open({ state = undefined } = {}) {
    this.isShown = true;
    if (state !== undefined) this.want({ state, search: "" });
    else if (!this.rows.isKnown) this.rows.want({});
    else this.refresh();
    this.show();
  }

  hide() {
    this.isShown = false;
  }

  want(wanted) {
    if (wanted.state !== undefined) this.state.value = wanted.state;
    if (wanted.search !== undefined) this.search.value = wanted.search;
    this.list.toTop();
    this.rows.want(wanted);
  }

  sort(sort, descends) {
    const { sort: old, descending } = this.rows.wanted;
    this.want({ sort, descending: sort === old ? !descending : descends });
  }

  /** Something of the DAG is different: rows in view show it at once, and are asked for anew soon. */
  update() {
    if (!this.isShown) return;
    for (const row of this.list.rows()) row.show();
    this.refresh();
  }

  show() {
    const { wanted, matches, total, error, isKnown } = this.rows;
    const { columns, noun } = this.kind;
    this.list.setCount(matches);
    columns.forEach((column, place) => {
      const order = wanted.descending ? "descending" : "ascending";
      if (column.sort) this.heads[place].setAttribute("aria-sort", column.sort === wanted.sort ? order : "none");
    });
    const isFiltered = wanted.search || wanted.state;
    setText(this.found, isKnown ? `${isFiltered ? `${number(matches)} of ` : ""}${amount(total, noun)}` : "");
    const none = isKnown && !matches ? `No ${noun}s match.` : "";
    setText(this.message, error ? `The ${noun}s can't be shown: ${shown(error.message)}` : none);
  }
}

/** A row on the page, which shows one row of the table after another. */
class Row {
  constructor(table) {
    this.table = table;
    const cells = table.kind.columns.map(({ name }) => el("div", { role: "gridcell", class: `cell c-${name}` }));
    this.shows = table.kind.columns.map(({ make }, place) => make(cells[place], this));
    this.element = el("div", { role: "row", class: "row", tabindex: -1 }, cells);
  }

  /** Show a row; undefined is one that is still on its way. */
  fill(data, place) {
    this.data = data;
    this.element.setAttribute("aria-rowindex", place + 2);
    this.element.classList.toggle("on-its-way", !data);
    this.element.classList.toggle("opened", Boolean(data) && this.table.opened === data.number);
    this.element.setAttribute("aria-selected", String(Boolean(data) && this.table.isSelected(data)));
    this.show();
  }

  show() {
    if (this.data) for (const show of this.shows) show(this.data);
  }
}

/** Rows that are asked for when they come into view. Only a few pages are kept. */
class Rows {
  /**
   * @param ask called with what is wanted, gives rows, matches and total
   * @param changed called when there are new rows, or another number of them
   */
  constructor(ask, changed) {
    this.ask = ask;
    this.changed = changed;
    this.pages = new Map(); // in the order of their use
    this.asked = new Set();
    this.wanted = { search: "", state: "", sort: "name", descending: false };
    this.matches = 0;
    this.total = 0;
    this.error = null;
    this.isKnown = false;
    this.round = 0;
  }

  /** Other rows are wanted from now on. */
  want(wanted) {
    this.wanted = { ...this.wanted, ...wanted };
    this.round += 1;
    this.pages.clear();
    this.asked.clear();
    this.isKnown = false;
    this.load(0);
  }

  /** Ask anew for rows that are in view; until they come, the old ones stay. */
  refresh(first, last) {
    const [from, to] = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    for (const [page, rows] of this.pages) if (page < from || page > to) rows.isOld = true;
    for (let page = from; page <= to; page += 1) this.load(page);
  }

  /** The row at a place, or undefined while it is on its way. */
  at(place) {
    const page = Math.floor(place / PAGE);
    const rows = this.pages.get(page);
    if (!rows || rows.isOld) this.load(page);
    else {
      this.pages.delete(page); // and put it to the end: it was used last
      this.pages.set(page, rows);
    }
    return rows?.[place % PAGE];
  }

  async load(page) {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const round = this.round;
    try {
      const { descending, ...wanted } = this.wanted;
      const range = { offset: page * PAGE, limit: PAGE };
      const answer = await this.ask({ ...wanted, descending: descending ? "1" : "", ...range });
      if (round !== this.round) return;
      this.pages.delete(page);
      this.pages.set(page, answer.rows);
      for (const old of this.pages.keys()) {
        if (this.pages.size <= KEPT) break;
        this.pages.delete(old);
      }
      this.matches = answer.matches;
      this.total = answer.total;
      this.error = null;
      this.isKnown = true;
    } catch (error) {
      if (round !== this.round) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
    } finally {
      if (round === this.round) this.asked.delete(page);
    }
    this.changed();
  }
}
