// All that is known of one group that runs at a site, above the table of groups.

import { bar } from "./bar.js";
import { button, calmly, el, name, shown } from "./dom.js";
import { rematchButton } from "./group_deeds.js";
import { groupChip, groupMeaning, groupWord, siteName } from "./group_states.js";
import { chip, word } from "./states.js";
import { clock, duration, number } from "./words.js";

const REFRESH_MS = 2000;

export class GroupCard {
  /** @param work `chooseNode(number)`, `closed()` */
  constructor(live, work) {
    this.live = live;
    this.work = work;
    this.number = null;
    this.title = el("h2", { tabindex: -1 });
    this.content = el("div");
    this.message = el("p", { class: "soft", role: "status" });
    this.bar = bar();
    this.element = el("section", { class: "group-card", "aria-label": "Group", hidden: true },
      el("div", { class: "details-head" }, this.title,
        button("×", () => this.close(), { class: "quiet close", "aria-label": "Close the group" })),
      this.message, this.content);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    this.refresh = calmly(() => this.load(), REFRESH_MS);
  }

  async open(chosen) {
    if (this.number !== chosen) {
      this.number = chosen;
      this.title.replaceChildren("…");
      this.content.replaceChildren();
    }
    this.element.hidden = false;
    await this.load();
    if (this.number === chosen) this.title.focus({ preventScroll: true });
  }

  close() {
    this.number = null;
    this.element.hidden = true;
    this.work.closed();
  }

  async load() {
    const wanted = this.number;
    if (wanted === null) return;
    try {
      const group = await this.live.api.group(wanted);
      if (wanted !== this.number) return;
      this.message.textContent = shown(group.problem);
      this.show(group);
    } catch (error) {
      if (wanted === this.number) this.message.textContent = `The group can't be shown: ${shown(error.message)}`;
    }
  }

  show(group) {
    if (this.shownName !== group.name || !this.title.querySelector("bdi")) this.title.replaceChildren(name(group.name));
    this.shownName = group.name;
    const focused = this.content.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.bar.show(group.states, group.total);
    this.content.replaceChildren(this.state(group), facts(this.live, group), this.bar.element, this.nodes(group));
    if (!focused) return;
    [...this.content.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)
      ?.focus({ preventScroll: true });
  }

  state(group) {
    return el("p", { class: "node-state" }, groupChip(group.state), el("b", {}, groupWord(group.state)),
      el("span", { class: "soft" }, groupMeaning(group.state)),
      rematchButton(this.live, group, { class: "grave", "data-key": "rematch" }));
  }

  nodes(group) {
    const more = group.total - group.nodes.length;
    return el("ul", { class: "plain group-nodes", "aria-label": "Nodes of the group" },
      group.nodes.map((node) => {
        const state = this.live.stateOf(node.number) ?? node.state;
        return el("li", {}, button([chip(state), name(node.name), el("span", { class: "unseen" }, ` ${word(state)}`)],
          () => this.work.chooseNode(node.number), { class: "near", "data-key": `node ${node.number}` }));
      }), more > 0 ? el("li", { class: "soft" }, `and ${number(more)} more`) : null);
  }
}

function facts(live, group) {
  const age = group.since ? duration(Date.now() / 1000 - group.since) : "";
  const rows = [
    ["Site", siteName(live, group.site)],
    ["Round", group.round ? number(group.round) : ""],
    ["Since", group.since ? `${clock(group.since)}, for ${age}` : ""],
    ["Done", `${number(group.done)} of ${number(group.total)} nodes`],
    ["Why", shown(group.reason)],
  ].filter(([, value]) => value);
  return el("dl", { class: "facts" },
    rows.flatMap(([key, value]) => [el("dt", {}, key), el("dd", { dir: "auto" }, value)]));
}
