// One row of the table of groups that run at sites.

import { button, el, setText, shown } from "./dom.js";
import { groupChip, groupMeaning, groupWord, siteName } from "./group_states.js";
import { clock, duration, number } from "./words.js";

export const GROUP_COLUMNS = [
  { name: "group", label: "Group", sort: "name" },
  { name: "state", label: "State", sort: "state" },
  { name: "site", label: "Site", sort: "site" },
  { name: "round", label: "Round", sort: "round" },
  { name: "since", label: "Since", sort: "since" },
  { name: "done", label: "Done", sort: "done" },
  { name: "why", label: "Why" },
  { name: "deed", label: "Commands", hidden: true },
];

export class GroupRow {
  /** @param table `selected`, the number of the group beside; `rematch(group)`; `obstacle(group)`, why it can't be */
  constructor(table) {
    this.table = table;
    const cell = ({ name }) => [name, el("div", { role: "gridcell", class: `cell c-${name}` })];
    this.cells = Object.fromEntries(GROUP_COLUMNS.map(cell));
    this.name = el("bdi", { class: "name" });
    this.cells.group.append(this.name);
    this.chip = el("span", { class: "chip-place" });
    this.word = el("span", { class: "state-word clip" });
    this.cells.state.append(this.chip, this.word);
    this.part = el("span");
    this.done = el("span");
    this.cells.done.append(el("span", { class: "share-bar s-done", "aria-hidden": "true" }, this.part), this.done);
    this.why = el("span", { class: "clip" });
    this.cells.why.append(this.why);
    this.deed = button("Rematch", (event) => {
      event.stopPropagation(); // the row stays as it is
      table.rematch(this.group);
    }, { tabindex: -1 });
    this.deed.addEventListener("keydown", (event) => event.stopPropagation());
    this.cells.deed.append(this.deed);
    this.element = el("div", { role: "row", class: "row", tabindex: -1 }, Object.values(this.cells));
  }

  /** Show a group; undefined is one that is still on its way. */
  fill(group, place) {
    this.group = group;
    this.element.setAttribute("aria-rowindex", place + 2);
    this.element.classList.toggle("on-its-way", !group);
    const isOpened = Boolean(group) && this.table.selected === group.number;
    this.element.classList.toggle("opened", isOpened);
    this.element.setAttribute("aria-selected", String(isOpened));
    this.deed.hidden = !group;
    if (group) this.show(group);
  }

  show(group) {
    const name = shown(group.name);
    setText(this.name, name.length > 500 ? `${name.slice(0, 500)}…` : name);
    this.name.title = name.slice(0, 2000);
    this.showState(group.state);
    this.showSite(group.site);
    setText(this.cells.round, group.round ? number(group.round) : "");
    setText(this.cells.since, group.since ? clock(group.since) : "");
    this.cells.since.title = group.since ? `for ${duration(Date.now() / 1000 - group.since)}` : "";
    this.part.style.width = `${(100 * group.done) / Math.max(group.total, 1)}%`;
    setText(this.done, `${number(group.done)} of ${number(group.total)}`);
    setText(this.why, shown(group.reason).slice(0, 300));
    this.why.title = shown(group.reason).slice(0, 2000);
    this.showDeed(name);
  }

  showState(state) {
    if (state === this.state) return;
    this.state = state;
    this.chip.replaceChildren(groupChip(state));
    setText(this.word, groupWord(state));
    this.cells.state.title = `${groupWord(state)}: ${groupMeaning(state)}`;
  }

  showSite(site) {
    const key = `${site} ${this.table.live.sites?.names.indexOf(site)}`;
    if (key === this.siteKey) return;
    this.siteKey = key;
    this.cells.site.replaceChildren(...(site ? [siteName(this.table.live, site)] : []));
    this.cells.site.title = shown(site).slice(0, 2000);
  }

  showDeed(name) {
    const why = this.table.obstacle(this.group);
    this.deed.disabled = Boolean(why);
    this.deed.title = why || "Moves the group to another site, where it starts over";
    this.deed.setAttribute("aria-label", `Rematch ${name.slice(0, 200)}`);
  }
}
