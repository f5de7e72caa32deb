// The view of sites: the groups of nodes that run at them. A row opens the card of its group. Only DAGs with SITE_GROUP
// have this view.

import { bar } from "./bar.js";
import { Card, facts, nodeEntries } from "./card.js";
import { allowRematch, rematch, rematchButton } from "./commands.js";
import { button, el, focusedIn, name, setText, shortened, shown } from "./dom.js";
import { siteClass, siteName, siteNumber, swatch } from "./sites.js";
import { GROUP_STATES, groupChip, groupMeaning, groupWord } from "./states.js";
import { nameCell, reasonCell, stateCell, Table, textCell } from "./table.js";
import { amount, clock, duration, number } from "./words.js";

const MAX_SITES = 24; // that have a button

const age = (group) => duration(Date.now() / 1000 - group.since);

function siteCell(cell, { table: { live } }) {
  let known = "";
  return ({ site }) => {
    const key = `${site} ${siteNumber(live, site)}`;
    if (key === known) return;
    known = key;
    cell.replaceChildren(...(site ? [siteName(live, site)] : []));
    cell.title = shown(site).slice(0, 2000);
  };
}

function doneCell(cell) {
  const part = el("span");
  const words = el("span");
  cell.append(el("span", { class: "share-bar s-done", "aria-hidden": "true" }, part), words);
  return ({ done, total }) => {
    part.style.width = `${(100 * done) / Math.max(total, 1)}%`;
    setText(words, `${number(done)} of ${number(total)}`);
  };
}

function rematchCell(cell, row) {
  const made = button("Rematch", async (event) => {
    event.stopPropagation(); // the row stays as it is
    if (await rematch(row.table.live, row.data)) row.table.update();
  }, { tabindex: -1 });
  made.addEventListener("keydown", (event) => event.stopPropagation());
  cell.append(made);
  return (group) => {
    allowRematch(made, row.table.live, group);
    made.setAttribute("aria-label", `Rematch ${shown(group.name).slice(0, 200)}`);
  };
}

const COLUMNS = [
  { name: "name", label: "Group", sort: "name", make: nameCell },
  { name: "state", label: "State", sort: "state", make: stateCell },
  { name: "site", label: "Site", sort: "site", make: siteCell },
  {
    name: "round", label: "Round", sort: "round", descends: true,
    make: textCell(({ round }) => (round ? number(round) : "")),
  },
  {
    name: "since", label: "Since", sort: "since",
    make: textCell(({ since }) => (since ? clock(since) : ""), (group) => (group.since ? `for ${age(group)}` : "")),
  },
  { name: "done", label: "Done", sort: "done", make: doneCell },
  { name: "reason", label: "Why", make: reasonCell },
  { name: "command", label: "Commands", hidden: true, make: rematchCell },
];

export class GroupTable extends Table {
  /** @param chooseNode called with the number of a node of a group */
  constructor(live, chooseNode) {
    super(live, {
      noun: "group",
      label: "Groups",
      search: { label: "Find", placeholder: "Part of the name of a group or site" },
      stateLabel: "State of the groups",
      hidesStateLabel: true,
      states: GROUP_STATES,
      word: groupWord,
      chip: groupChip,
      meaning: groupMeaning,
      stateOf: (group) => group.state,
      ask: (wanted) => this.ask(wanted),
      columns: COLUMNS,
    });
    this.card = new GroupCard(live, chooseNode, () => this.closeCard());
    this.problem = el("p", { class: "note", role: "status", hidden: true });
    this.sites = el("div", { class: "site-legend", role: "group", "aria-label": "Groups by site" });
    this.element = el("div", { class: "groups" }, this.sites, this.filters, this.problem, this.card.element, this.frame);
  }

  async ask(wanted) {
    const answer = await this.live.api.get("groups", wanted);
    setText(this.problem, shown(answer.problem));
    this.problem.hidden = !answer.problem;
    return answer;
  }

  /** The number of the group whose card is open. */
  get opened() {
    return this.card.number;
  }

  isSelected(group) {
    return group.number === this.opened;
  }

  openRow(group) {
    this.choose(group.number);
  }

  tickRow(group) {
    this.choose(group.number);
  }

  open(filter) {
    super.open(filter);
    this.card.refresh();
  }

  update() {
    super.update();
    if (!this.isShown) return;
    this.card.refresh();
    this.showSites();
  }

  /** Show the card of a group. */
  choose(group) {
    this.card.open(group);
    this.list.refill();
  }

  closeCard() {
    this.card.close();
    this.list.refill();
    (this.list.activeRow()?.element ?? this.list.element).focus({ preventScroll: true });
  }

  show() {
    super.show();
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
    const hadFocus = focusedIn(this.sites)?.dataset.site;
    const rest = more > 0 ? el("span", { class: "soft" }, `and ${amount(more, "more site")}`) : "";
    this.sites.replaceChildren(...parts, rest);
    parts.find((part) => hadFocus && part.dataset.site === hadFocus)?.focus({ preventScroll: true });
  }

  sitePart(site, count) {
    const place = siteNumber(this.live, site);
    return button([place ? swatch(siteClass(place)) : "", el("b", {}, number(count)),
      el("span", {}, `${count === 1 ? "group" : "groups"} at`), name(shortened(shown(site), 60))],
    () => this.want({ search: site }),
    { class: "site-part", "data-site": site, title: `Show the groups at ${shown(site)}` });
  }
}

/** All that is known of one group, above the table. */
class GroupCard extends Card {
  constructor(live, chooseNode, close) {
    super(live, {
      noun: "group", tag: "section", className: "group-card", ask: (number) => live.api.get(`groups/${number}`),
      failure: "The group can't be shown", close,
    });
    this.chooseNode = chooseNode;
    this.bar = bar();
  }

  async open(chosen) {
    await super.open(chosen);
    if (this.number === chosen) this.title.focus({ preventScroll: true });
  }

  show(group) {
    this.showName(group.name);
    this.bar.show(group.states, group.total);
    const nodes = nodeEntries(this.live, group.nodes, group.total, this.chooseNode);
    this.fill(this.state(group), this.facts(group), this.bar.element,
      el("ul", { class: "plain group-nodes", "aria-label": "Nodes of the group" }, nodes));
  }

  state(group) {
    return el("p", { class: "node-state" }, groupChip(group.state), el("b", {}, groupWord(group.state)),
      el("span", { class: "soft" }, groupMeaning(group.state)),
      rematchButton(this.live, group, { class: "grave", "data-key": "rematch" }));
  }

  facts(group) {
    return facts([
      ["Site", siteName(this.live, group.site)],
      ["Round", group.round ? number(group.round) : ""],
      ["Since", group.since ? `${clock(group.since)}, for ${age(group)}` : ""],
      ["Done", `${number(group.done)} of ${number(group.total)} nodes`],
      ["Why", shown(group.reason)],
    ]);
  }
}
