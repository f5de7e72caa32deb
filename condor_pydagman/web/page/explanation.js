// What `condor_pydagman explain` says: findings, the most important first, with what says so and what can be done.

import { button, el, name, shown, shownText } from "./dom.js";
import { amount } from "./words.js";

const MAX_NODES = 12; // that are named
const MAX_EVIDENCE = 8000; // characters
const WEIGHTS = ["problem", "waiting", "note"];

/** One finding; `choose(name)` is called by a click on a node. */
export function findingCard(finding, choose) {
  const { weight, nodes, evidence, advice, inner = [] } = finding;
  return el("li", { class: `finding w-${WEIGHTS.includes(weight) ? weight : "note"}` },
    el("p", { class: "finding-sentence" }, shown(finding.finding)),
    evidence.map((text) => el("pre", { class: "evidence" }, shownText(text).slice(0, MAX_EVIDENCE))),
    advice.map((sentence) => el("p", { class: "advice" }, shown(sentence))),
    choose && nodes.length ? nodeButtons(nodes, choose) : null,
    inner.map(innerDag));
}

/** What is to be said of a sub-DAG, whose nodes are not those of this page. */
function innerDag({ headline, findings }) {
  return el("div", { class: "inner" }, el("p", {}, shown(headline)),
    el("ul", { class: "findings" }, findings.map((finding) => findingCard(finding, null))));
}

function nodeButtons(nodes, choose) {
  const buttons = nodes.slice(0, MAX_NODES).map((node) => button(name(node), () => choose(node), { class: "chip-button" }));
  const more = nodes.length - buttons.length;
  return el("p", { class: "finding-nodes" }, buttons,
    more > 0 ? el("span", { class: "soft" }, ` and ${amount(more, "other")}`) : null);
}

export class ExplanationView {
  constructor(live, chooseName) {
    this.live = live;
    this.chooseName = chooseName;
    this.message = el("p", { class: "soft", role: "status" });
    this.list = el("ul", { class: "findings" });
    this.again = button("Refresh", () => this.load());
    this.element = el("div", { class: "explanation" },
      el("div", { class: "view-tools" }, this.message, this.again), this.list);
  }

  open() {
    this.load();
  }

  hide() {}

  async load() {
    this.message.textContent = "Analyzing…";
    this.again.disabled = true;
    try {
      const { findings } = await this.live.api.get("explain");
      this.list.replaceChildren(...findings.map((finding) => findingCard(finding, this.chooseName)));
      const when = new Date().toLocaleTimeString("en-GB");
      const words = findings.length ? amount(findings.length, "finding") : "No problems found";
      this.message.textContent = `${words}, as of ${when}.`;
    } catch (error) {
      this.message.textContent = `Can't load the explanation: ${shown(error.message)}`;
    }
    this.again.disabled = false;
  }
}
