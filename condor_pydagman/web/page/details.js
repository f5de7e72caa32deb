// All that is known of one node, beside the picture or the table: state, commands, why, parents and children, its job,
// variables and files.

import { NODE_COMMANDS, run, someNodes } from "./commands.js";
import { button, calmly, el, name, shown } from "./dom.js";
import { findingCard } from "./explanation.js";
import { groupOfNode } from "./group_deeds.js";
import { chip, isAmong, meaning, word } from "./states.js";
import { clock, duration, number, result, size } from "./words.js";

const REFRESH_MS = 1500;
const MAX_VALUE = 300;

export class Details {
  /** @param work `chooseNode(number)`, `chooseGroup(number)`, `openFile(node, kind, path)`, `close()` */
  constructor(live, work) {
    this.live = live;
    this.work = work;
    this.title = el("h2", { tabindex: -1 });
    this.state = el("p", { class: "node-state" });
    this.buttons = Object.fromEntries(Object.entries(NODE_COMMANDS).map(([command, known]) => [command,
      button(known.label, () => this.node && run(live, command, someNodes([this.node])))]));
    this.message = el("p", { class: "soft", role: "status" });
    this.content = el("div");
    this.element = el("aside", { class: "details", "aria-label": "Node", hidden: true },
      el("div", { class: "details-head" }, this.title,
        button("×", () => work.close(), { class: "quiet close", "aria-label": "Close the node" })),
      this.state,
      el("div", { class: "buttons", role: "group", "aria-label": "Commands for the node" }, Object.values(this.buttons)),
      this.message, this.content);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && work.close());
    this.refresh = calmly(() => this.load(), REFRESH_MS);
  }

  open(number) {
    if (this.number === number) return;
    this.number = number;
    this.node = null;
    this.element.hidden = false;
    this.title.replaceChildren("…");
    this.content.replaceChildren();
    this.load().then(() => this.wantsFocus && this.title.focus());
    this.showState();
  }

  close() {
    this.number = null;
    this.node = null;
    this.element.hidden = true;
  }

  /** States have changed. */
  update({ numbers, all }) {
    if (this.number === null || this.number === undefined) return;
    if (!all && !numbers.includes(this.number)) return;
    this.showState();
    this.refresh();
  }

  /** Groups have moved to other sites: those `groups`, or all. */
  updateSites({ groups }) {
    const group = this.node?.group?.number;
    if (group !== undefined && (!groups || groups.includes(group))) this.refresh();
  }

  async load() {
    const { number } = this;
    if (number === null || number === undefined) return;
    try {
      const node = await this.live.api.node(number);
      if (number !== this.number) return;
      this.message.textContent = "";
      this.show(node);
    } catch (error) {
      if (number === this.number) this.message.textContent = `Can't load the node: ${shown(error.message)}`;
    }
  }

  showState() {
    const state = this.live.stateOf(this.number) ?? this.node?.state;
    const can = this.live.overview?.controls?.can;
    const key = `${state} ${can}`;
    if (!state || (key === this.shownKey && this.number === this.shownNumber)) return;
    this.shownKey = key;
    this.shownNumber = this.number;
    this.state.replaceChildren(chip(state), el("b", {}, word(state)), el("span", { class: "soft" }, meaning(state)));
    for (const [command, one] of Object.entries(this.buttons)) {
      const { states, tells } = NODE_COMMANDS[command];
      const fits = !states || isAmong(state, states);
      one.disabled = !can || !fits;
      one.title = fits ? tells : `${tells}. Only for nodes in these states: ${states.map(word).join(", ")}.`;
    }
  }

  show(node) {
    this.node = node;
    if (this.shownName !== node.name) this.title.replaceChildren(name(node.name));
    this.shownName = node.name;
    this.showState();
    const open = new Set([...this.content.querySelectorAll("details[open]")].map((one) => one.dataset.part));
    const parts = [
      this.facts(node), groupOfNode(this.live, node.group, this.work.chooseGroup), this.explained(node), this.files(node),
      this.near("Parents", node.parents, node.parents_count), this.near("Children", node.children, node.children_count),
      this.usage(node), this.variables(node),
    ].filter(Boolean);
    for (const part of parts) if (part.dataset.part && open.has(part.dataset.part)) part.open = true;
    const top = this.element.scrollTop;
    const focused = this.content.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.content.replaceChildren(...parts);
    this.element.scrollTop = top;
    if (!focused) return;
    const again = [...this.content.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
    again?.focus({ preventScroll: true });
  }

  facts(node) {
    const job = node.job ?? {};
    const rows = [
      ["Reason", shown(node.reason)],
      ["Attempt", typeof node.attempt === "number" ? String(node.attempt + 1) : ""],
      ["Job", shown(job.job || node.cluster)],
      ["Site", shown(node.site)],
      ["Machine", shown((job.hosts ?? []).slice(-1)[0] ?? job.host)],
      ["Started", node.started ? clock(node.started) : ""],
      ["Ended", node.ended ? clock(node.ended) : ""],
      ["Ran", typeof node.runtime_s === "number" ? duration(node.runtime_s) : ""],
      ["Result", typeof job.value === "number" ? result(job.value) : ""],
      ["Evictions", job.evictions ? number(job.evictions) : ""],
      ["Submit file", shown(node.submit)],
    ];
    return pairs(rows);
  }

  explained(node) {
    const findings = node.explain ?? [];
    if (!findings.length) return null;
    const cards = findings.map((finding) => findingCard(finding));
    return el("section", {}, el("h3", {}, "Why"), el("ul", { class: "findings" }, cards));
  }

  files(node) {
    const files = node.files ?? [];
    if (!files.length) return null;
    const lines = files.map((file) => el("li", {}, this.file(node, file)));
    return el("section", {}, el("h3", {}, "Files"), el("ul", { class: "plain" }, lines));
  }

  file(node, { kind, path, exists }) {
    const isMissing = exists === false;
    return button([el("span", {}, shown(kind)), name(path, { class: "name soft" })],
      () => this.work.openFile(node, kind, path), {
        class: "file", "data-key": `file ${kind}`, disabled: isMissing,
        title: isMissing ? "This file does not exist yet" : `Show ${shown(path)}`,
      });
  }

  near(title, nodes, count) {
    if (!nodes?.length) return null;
    const all = count ?? nodes.length;
    return el("details", { "data-part": title, open: nodes.length <= 6 },
      el("summary", {}, `${title} (${number(all)})`),
      el("ul", { class: "plain" }, nodes.map((near) => this.nearNode(near)),
        all > nodes.length ? el("li", { class: "soft" }, `and ${number(all - nodes.length)} more`) : null));
  }

  nearNode(near) {
    const known = typeof near === "object" ? near : { name: near };
    const state = this.live.stateOf(known.number) ?? known.state;
    const words = state ? el("span", { class: "unseen" }, ` ${word(state)}`) : "";
    return el("li", {}, button([state ? chip(state) : "", name(known.name), words],
      () => this.work.chooseNode(known.number ?? known.name), { class: "near", "data-key": `node ${known.name}` }));
  }

  usage(node) {
    const { job = {} } = node;
    const rows = [
      ["CPU time", job.cpu_s ? duration(job.cpu_s) : ""],
      ["Sent", job.bytes_sent ? size(job.bytes_sent) : ""],
      ["Received", job.bytes_received ? size(job.bytes_received) : ""],
    ];
    for (const [resource, row] of Object.entries(job.usage ?? {})) {
      const given = Object.entries(row ?? {}).filter(([, value]) => value !== null && value !== "");
      rows.push([shown(resource), shown(given.map(([what, value]) => `${what} ${value}`).join(", "))]);
    }
    const list = pairs(rows);
    return list ? el("details", { "data-part": "usage" }, el("summary", {}, "Resources"), list) : null;
  }

  variables(node) {
    const vars = Object.entries(node.vars ?? {});
    if (!vars.length) return null;
    return el("details", { "data-part": "vars" }, el("summary", {}, `Variables (${number(vars.length)})`),
      pairs(vars.map(([key, value]) => [shown(key), shown(value).slice(0, MAX_VALUE)]), "mono"));
  }
}

function pairs(rows, className = "") {
  const present = rows.filter(([, value]) => value);
  if (!present.length) return null;
  return el("dl", { class: `facts ${className}` },
    present.flatMap(([key, value]) => [el("dt", {}, key), el("dd", { dir: "auto" }, value)]));
}
