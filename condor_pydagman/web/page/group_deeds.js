// The button that has a group leave its site: in the table of groups, on the card of one, and beside a node of it.

import { oneGroup, run } from "./commands.js";
import { button, el, name, shown } from "./dom.js";
import { groupChip, groupWord, siteName } from "./group_states.js";

/** Why a group can't be matched again now; '' if it can. */
export function obstacle(live, group) {
  const { controls } = live.overview ?? {};
  if (!controls?.can) return shown(controls?.why_not) || "You can't steer this DAG now.";
  return group.state === "matched" ? "" : `Only for groups at a site. The state of this group: ${groupWord(group.state)}.`;
}

/** Ask, and have it leave its site. */
export function rematch(live, group) {
  return run(live, "rematch", oneGroup(group));
}

/** The button; `more` are further attributes. */
export function rematchButton(live, group, more = {}) {
  const why = obstacle(live, group);
  return button("Rematch", () => rematch(live, group), {
    disabled: Boolean(why), title: why || "Moves the group to another site, where it starts over", ...more,
  });
}

/** The group of a node, for beside the node; null if it is in none. */
export function groupOfNode(live, group, choose) {
  if (!group) return null;
  const words = el("span", { class: "unseen" }, ` ${groupWord(group.state)}`);
  const open = button([groupChip(group.state), name(group.name), words], () => choose(group.number),
    { class: "near", "data-key": "group", title: `${groupWord(group.state)}; click to see the group` });
  return el("section", {}, el("h3", {}, "Group"),
    el("div", { class: "group-of-node" }, open, group.site ? el("span", { class: "soft" }, "at") : null,
      siteName(live, group.site),
      rematchButton(live, group, { "data-key": "rematch", class: "deed-button grave" })));
}
