// The view of sites: the groups of nodes that run at them, searched, filtered and sorted; of thousands only those in
// view exist. A row opens the card of its group. Only DAGs with SITE_GROUP have this view.

import { button, calmly, el, freshId, name, setText, shortened, shown } from "./dom.js";
import { GroupCard } from "./group_card.js";
import { obstacle, rematch } from "./group_deeds.js";
import { GROUP_COLUMNS, GroupRow } from "./group_row.js";
import { GROUP_STATES, groupWord, siteClass, swatch } from "./group_states.js";
import { Rows } from "./rows.js";
import { VirtualList } from "./virtual_list.js";
import { amount, number } from "./words.js";

const REFRESH_MS = 2000;
const TYPING_MS = 250;
const MAX_SITES = 24; // that have a button

export class GroupsView {
  /** @param chooseNode called with the number of a node of a group */
  constructor(live, chooseNode) {
    this.live = live;
    this.rows = new Rows((wanted) => this.ask(wanted), () => this.show());
    this.card = new GroupCard(live, { chooseNode, closed: () => this.cardClosed() });
    this.list = new VirtualList({
      label: "Groups",
      make: () => new GroupRow(this),
      fill: (row, place) => row.fill(this.rows.at(place), place),
      open: (row) => row.group && this.choose(row.group.number),
      tick: (row) => row.group && this.choose(row.group.number),
    });
    this.list.element.removeAttribute("aria-multiselectable");
    this.refresh = calmly(() => this.isShown && this.rows.refresh(...this.list.range()), REFRESH_MS);
    this.problem = el("p", { class: "note", role: "status", hidden: true });
    this.sites = el("div", { class: "site-legend", role: "group", "aria-label": "Groups by site" });
    this.element = el("div", { class: "groups" }, this.sites, this.filters(), this.problem, this.card.element, this.table());
  }

  get selected() {
    return this.card.number;
  }

  filters() {
    const search = calmly(() => this.rows.want({ search: this.search.value }), TYPING_MS);
    const id = freshId("groups");
    this.search = el("input", {
      type: "search", id, placeholder: "Part of the name of a group or site", autocomplete: "off", spellcheck: "false",
      maxlength: 1000, oninput: () => {
        this.list.toTop();
        search();
      },
    });
    const change = () => this.want({ state: this.state.value });
    this.state = el("select", { "aria-label": "State of the groups", onchange: change },
      el("option", { value: "" }, "any state"),
      GROUP_STATES.map((state) => el("option", { value: state }, groupWord(state))));
    this.found = el("span", { class: "soft found", role: "status" });
    const form = el("form", { class: "filters", role: "search", "aria-label": "Groups" },
      el("label", { for: id }, "Find"), this.search, this.state, this.found);
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  table() {
    const head = (name) => ({ role: "columnheader", class: `cell c-${name}` });
    this.heads = GROUP_COLUMNS.map(({ name: own, label, sort, hidden }) => el("div", head(own),
      sort ? button(label, () => this.sort(sort), { class: "sort" })
        : el("span", { class: hidden ? "unseen" : null }, label)));
    this.list.element.prepend(el("div", { role: "rowgroup", class: "table-head" },
      el("div", { role: "row", class: "row", "aria-rowindex": 1 }, this.heads)));
    this.message = el("p", { class: "soft table-message" });
    return el("div", { class: "table-frame" }, this.list.element, this.message);
  }

  async ask(wanted) {
    const answer = await this.live.api.groups(wanted);
    setText(this.problem, shown(answer.problem));
    this.problem.hidden = !answer.problem;
    return answer;
  }

  open() {
    this.isShown = true;
    if (!this.rows.isKnown) this.rows.want({});
    else this.refresh();
    this.card.refresh();
    this.show();
  }

  hide() {
    this.isShown = false;
  }

  /** Something of the DAG is different. */
  update() {
    if (!this.isShown) return;
    this.refresh();
    this.card.refresh();
    this.showSites();
  }

  want(wanted) {
    if (wanted.state !== undefined) this.state.value = wanted.state;
    if (wanted.search !== undefined) this.search.value = wanted.search;
    this.list.toTop();
    this.rows.want(wanted);
  }

  sort(sort) {
    const { sort: old, descending } = this.rows.wanted;
    this.want({ sort, descending: sort === old ? !descending : sort === "round" });
  }

  /** Show the card of a group. */
  choose(group) {
    this.card.open(group);
    this.list.refill();
  }

  cardClosed() {
    this.list.refill();
    (this.list.activeRow()?.element ?? this.list.element).focus({ preventScroll: true });
  }

  obstacle(group) {
    return obstacle(this.live, group);
  }

  async rematch(group) {
    if (await rematch(this.live, group)) this.update();
  }

  show() {
    const { wanted, matches, total, error, isKnown } = this.rows;
    this.list.setCount(matches);
    GROUP_COLUMNS.forEach((column, place) => {
      const order = wanted.descending ? "descending" : "ascending";
      if (column.sort) this.heads[place].setAttribute("aria-sort", column.sort === wanted.sort ? order : "none");
    });
    const isFiltered = wanted.search || wanted.state;
    setText(this.found, isKnown ? `${isFiltered ? `${number(matches)} of ` : ""}${amount(total, "group")}` : "");
    const none = isKnown && !matches ? "No groups match." : "";
    setText(this.message, error ? `The groups can't be shown: ${shown(error.message)}` : none);
    this.showSites();
  }

  /** How many groups are at each site; a click searches for them. */
  showSites() {
    const { at = {} } = this.live.overview?.sites ?? {};
    const inOrder = this.live.sites?.names ?? []; // of their colours
    const names = [...new Set([...inOrder, ...Object.keys(at)])].filter((site) => at[site]);
    const key = JSON.stringify([at, inOrder]);
    if (key === this.sitesKey) return;
    this.sitesKey = key;
    const parts = names.slice(0, MAX_SITES).map((site) => this.sitePart(site, at[site]));
    const more = names.length - parts.length;
    const hadFocus = this.sites.contains(document.activeElement) ? document.activeElement.dataset.site : null;
    const rest = more > 0 ? el("span", { class: "soft" }, `and ${amount(more, "more site")}`) : "";
    this.sites.replaceChildren(...parts, rest);
    parts.find((part) => hadFocus !== null && part.dataset.site === hadFocus)?.focus({ preventScroll: true });
  }

  sitePart(site, count) {
    const place = (this.live.sites?.names.indexOf(site) ?? -1) + 1;
    return button([place ? swatch(siteClass(place)) : "", el("b", {}, number(count)),
      el("span", {}, `${count === 1 ? "group" : "groups"} at`), name(shortened(shown(site), 60))],
    () => this.want({ search: site }),
    { class: "site-part", "data-site": site, title: `Show the groups at ${shown(site)}` });
  }
}
