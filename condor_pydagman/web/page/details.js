// The card of a node, beside the picture or the table: state, commands, why, parents and children, its job, variables and
// files.

import { attemptsSection } from "./attempts.js";
import { Card, facts, nodeEntries } from "./card.js";
import { NODE_COMMANDS, rematchButton, run, someNodes } from "./commands.js";
import { button, el, name, setText, shown, shownText } from "./dom.js";
import { findingCard } from "./explanation.js";
import { siteName } from "./sites.js";
import { chip, groupChip, groupWord, isAmong, meaning, word } from "./states.js";
import { amount, clock, duration, number, result, size } from "./words.js";

const MAX_VALUE = 300;
const MAX_LINES = 20; // of the end of a file
const TAIL = 8192; // bytes of it that are asked for
const TAIL_OF_ALL = 131072; // the same of the log of all nodes

export class Details extends Card {
  /** @param work `chooseNode(number)`, `chooseGroup(number)`, `openFile(node, kind, path)`, `close()` */
  constructor(live, work) {
    super(live, {
      noun: "node", tag: "aside", className: "details", ask: (number) => live.api.get(`nodes/${number}`),
      failure: "Can't load the node", close: () => work.close(),
    });
    this.work = work;
    this.wantsFocus = false;
    this.tails = new Map(); // by file of the node, what was seen of its end
    this.state = el("p", { class: "node-state" });
    this.buttons = Object.fromEntries(Object.entries(NODE_COMMANDS).map(([command, known]) => [command,
      button(known.label, () => run(live, command, someNodes([this.node])))]));
    this.head.after(this.state,
      el("div", { class: "buttons", role: "group", "aria-label": "Commands for the node" }, Object.values(this.buttons)));
  }

  async open(number) {
    if (this.number === number) return;
    this.node = null;
    this.tails.clear();
    const loaded = super.open(number);
    this.showState();
    await loaded;
    if (this.wantsFocus) this.title.focus();
  }

  close() {
    super.close();
    this.node = null;
  }

  /** States have changed. */
  update({ numbers, all }) {
    if (this.number === null || (!all && !numbers.includes(this.number))) return;
    this.showState();
    this.refresh();
  }

  /** Groups have moved to other sites: those `groups`, or all. */
  updateSites({ groups }) {
    const group = this.node?.group?.number;
    if (group !== undefined && (!groups || groups.includes(group))) this.refresh();
  }

  showState() {
    const state = this.live.stateOf(this.number) ?? this.node?.state;
    const can = this.live.overview?.controls?.can;
    const key = `${state} ${can} ${this.node !== null}`; // a click before it has come would be lost
    if (!state || (key === this.shownKey && this.number === this.shownNumber)) return;
    this.shownKey = key;
    this.shownNumber = this.number;
    this.state.replaceChildren(chip(state), el("b", {}, word(state)), el("span", { class: "soft" }, meaning(state)));
    for (const [command, one] of Object.entries(this.buttons)) {
      const { states, tells } = NODE_COMMANDS[command];
      const fits = !states.length || isAmong(state, states);
      one.disabled = !can || !fits || !this.node;
      one.title = fits ? tells : `${tells}. Only for nodes in these states: ${states.map(word).join(", ")}.`;
    }
  }

  show(node) {
    this.node = node;
    this.showName(node.name);
    this.showState();
    const open = new Set([...this.content.querySelectorAll("details[open]")].map((one) => one.dataset.part));
    const parts = [
      this.facts(node), attemptsSection(node.course, node.attempts), this.group(node.group), this.explained(node),
      this.files(node),
      this.near("Parents", node.parents, node.parents_count), this.near("Children", node.children, node.children_count),
      this.usage(node), this.variables(node),
    ].filter(Boolean);
    const all = parts.flatMap((part) => [part, ...part.querySelectorAll("details[data-part]")]);
    for (const part of all) if (part.dataset.part && open.has(part.dataset.part)) part.open = true;
    this.fill(...parts);
  }

  facts(node) {
    const { job } = node;
    return facts([
      ["Reason", shown(node.reason)],
      ["Attempt", typeof node.attempt === "number" ? String(node.attempt + 1) : ""],
      ["Job", shown(job.job || node.cluster)],
      ["Bundle", job.bundle ? `${shown(job.bundle)}, with ${amount(job.nodes - 1, "other node")}` : ""],
      ["Site", shown(node.site)],
      ["Machine", shown((job.hosts ?? []).slice(-1)[0])],
      ["Started", node.started ? clock(node.started) : ""],
      ["Ended", node.ended ? clock(node.ended) : ""],
      ["Ran", typeof node.runtime_s === "number" ? duration(node.runtime_s) : ""],
      ["Result", typeof job.value === "number" ? result(job.value) : ""],
      ["Evictions", job.evictions ? number(job.evictions) : ""],
      ["Submit file", shown(node.submit)],
    ]);
  }

  /** The group that it runs with at a site. */
  group(group) {
    if (!group) return null;
    const words = el("span", { class: "unseen" }, ` ${groupWord(group.state)}`);
    const open = button([groupChip(group.state), name(group.name), words], () => this.work.chooseGroup(group.number),
      { class: "near", "data-key": "group", title: `${groupWord(group.state)}; click to see the group` });
    return el("section", {}, el("h3", {}, "Group"),
      el("div", { class: "group-of-node" }, open, group.site ? el("span", { class: "soft" }, "at") : null,
        siteName(this.live, group.site),
        rematchButton(this.live, group, { "data-key": "rematch", class: "command-button grave" })));
  }

  explained({ explain: findings }) {
    if (!findings.length) return null;
    const cards = findings.map((finding) => findingCard(finding));
    return el("section", {}, el("h3", {}, "Why"), el("ul", { class: "findings" }, cards));
  }

  files(node) {
    if (!node.files.length) return null;
    const lines = node.files.map((file) => el("li", {}, this.file(node, file),
      file.exists === false ? null : this.lastLines(`${file.kind}:${node.number}`, "Last lines")));
    const own = el("li", {}, this.lastLines("dagman.out", "What DAGMan's log says of it", node.name));
    return el("section", {}, el("h3", {}, "Files"), el("ul", { class: "plain" }, lines, own));
  }

  /** The end of a file, which is asked for when somebody opens it; with `about`, lines that name a node. */
  lastLines(file, title, about = "") {
    const text = el("pre", { class: "evidence", tabindex: 0, "aria-label": title }, this.tails.get(file) ?? "…");
    const summary = el("summary", { "data-key": `tail ${file}` }, title);
    const part = el("details", { class: "tail", "data-part": file }, summary, text);
    part.addEventListener("toggle", async () => {
      if (!part.open) return;
      this.tails.set(file, await this.ending(file, about));
      setText(text, this.tails.get(file));
      text.scrollTop = text.scrollHeight;
    });
    return part;
  }

  async ending(file, about) {
    try {
      const answer = await this.live.api.get("text", { file, from: about ? -TAIL_OF_ALL : -TAIL });
      const lines = shownText(answer.text).trimEnd().split("\n");
      if (answer.from) lines.shift(); // it begins somewhere in a line
      const found = about ? lines.filter((line) => line.includes(about)) : lines;
      return found.slice(-MAX_LINES).join("\n") || (about ? "Nothing in its last lines." : "The file is empty.");
    } catch (error) {
      return shown(error.message);
    }
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
    if (!nodes.length) return null;
    return el("details", { "data-part": title, open: nodes.length <= 6 },
      el("summary", {}, `${title} (${number(count)})`),
      el("ul", { class: "plain" }, nodeEntries(this.live, nodes, count, this.work.chooseNode)));
  }

  usage({ job }) {
    const rows = [
      ["CPU time", job.cpu_s ? duration(job.cpu_s) : ""],
      ["Sent", job.bytes_sent ? size(job.bytes_sent) : ""],
      ["Received", job.bytes_received ? size(job.bytes_received) : ""],
    ];
    for (const [resource, row] of Object.entries(job.usage ?? {})) {
      const given = Object.entries(row).filter(([, value]) => value !== null && value !== "");
      rows.push([shown(resource), shown(given.map(([what, value]) => `${what} ${value}`).join(", "))]);
    }
    const list = facts(rows);
    return list ? el("details", { "data-part": "usage" }, el("summary", {}, "Resources"), list) : null;
  }

  variables(node) {
    const vars = Object.entries(node.vars);
    if (!vars.length) return null;
    return el("details", { "data-part": "vars" }, el("summary", {}, `Variables (${number(vars.length)})`),
      facts(vars.map(([key, value]) => [shown(key), shown(value).slice(0, MAX_VALUE)]), "mono"));
  }
}
