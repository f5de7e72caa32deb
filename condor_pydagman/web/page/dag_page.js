// The page of one DAG: its head, and below it one of several views, with the chosen node beside.

import { button, el, shown } from "./dom.js";
import { Details } from "./details.js";
import { ExplanationView } from "./explanation.js";
import { GroupTable } from "./groups.js";
import { Head } from "./head.js";
import { LiveDag } from "./live.js";
import { NodeTable } from "./nodes.js";
import { announce, failure } from "./notices.js";
import { Picture } from "./picture.js";
import { RunsView } from "./runs.js";
import { countsOf } from "./states.js";
import { TextView } from "./text_view.js";
import { Timeline } from "./timeline.js";
import { amount } from "./words.js";

const VIEWS = {
  picture: "Picture", nodes: "Nodes", sites: "Sites", timeline: "Timeline", explain: "Explanation", files: "Files",
  runs: "Runs",
};
const ONLY_WITH_GROUPS = "sites";

export class DagPage {
  /** @param work `setLink(link)`, `go(view, node)` changes the address */
  constructor(id, place, work) {
    this.work = work;
    this.live = new LiveDag(id);
    const choose = (node) => this.chooseNode(node);
    this.head = new Head(this.live, (state) => this.showState(state));
    this.details = new Details(this.live, {
      chooseNode: choose, chooseGroup: (group) => this.chooseGroup(group), close: () => this.closeNode(),
      openFile: (...file) => this.openFile(...file),
    });
    this.views = {
      picture: new Picture(this.live, choose),
      nodes: new NodeTable(this.live, choose),
      sites: new GroupTable(this.live, choose),
      timeline: new Timeline(this.live, choose),
      explain: new ExplanationView(this.live, choose),
      files: new TextView(this.live),
      runs: new RunsView(this.live, choose),
    };
    this.tabs = {};
    this.panels = {};
    for (const [view, label] of Object.entries(VIEWS)) {
      this.tabs[view] = button(label, () => work.go(view, this.node),
        { role: "tab", id: `tab-${view}`, "aria-controls": `view-${view}` });
      this.panels[view] = el("div", { role: "tabpanel", id: `view-${view}`, "aria-labelledby": `tab-${view}`, hidden: true },
        this.views[view].element);
    }
    const tabs = el("div", { role: "tablist", class: "tabs", "aria-label": "Views" }, Object.values(this.tabs));
    tabs.addEventListener("keydown", (event) => this.tabKey(event));
    this.body = el("div", { class: "dag-body", hidden: true }, this.head.element, tabs,
      el("div", { class: "split" }, el("div", { class: "views" }, Object.values(this.panels)), this.details.element));
    this.waiting = el("p", { class: "soft waiting-words", role: "status" }, "Reading the DAG…");
    place.replaceChildren(this.waiting, this.body);
    this.listen();
    this.live.start();
  }

  listen() {
    this.live.addEventListener("overview", () => this.showOverview());
    this.live.addEventListener("states", (/** @type {CustomEvent} */ { detail }) => {
      this.views.picture.update(detail);
      this.views.nodes.update();
      this.details.update(detail);
      this.views.sites.update();
    });
    this.live.addEventListener("sites", (/** @type {CustomEvent} */ { detail }) => {
      this.views.picture.updateSites();
      this.details.updateSites(detail);
      this.views.sites.update();
    });
    this.live.addEventListener("link", (/** @type {CustomEvent} */ { detail }) => {
      this.work.setLink(detail);
      const isRead = detail.state === "slow"; // by the server; the banner says so
      if (!this.live.overview && detail.sentence && !isRead) this.waiting.textContent = shown(detail.sentence);
    });
  }

  stop() {
    this.live.stop();
    for (const view of Object.values(this.views)) view.hide();
  }

  retryNow() {
    this.live.retryNow();
  }

  showOverview() {
    const { overview } = this.live;
    const isFirst = this.body.hidden;
    this.waiting.hidden = true;
    this.body.hidden = false;
    this.head.show(overview);
    this.views.nodes.showSelection();
    this.tabs[ONLY_WITH_GROUPS].hidden = !overview.groups;
    this.views.sites.update();
    this.details.showState();
    const file = shown(overview.dag.split("/").pop());
    const { total = 0, done = 0 } = overview.counts ?? {};
    document.title = `${total ? `${Math.floor((100 * done) / total)} % ` : ""}${file}`;
    this.work.setPath(file);
    this.announceChange(overview);
    if (isFirst) this.apply();
  }

  /** Only what matters is read out: another state of the DAG, and failures. */
  announceChange(overview) {
    const { failed, held } = countsOf(overview);
    const before = this.announced;
    this.announced = { state: overview.state, failed, held };
    if (!before) return;
    if (overview.state !== before.state) announce(`The DAG is now ${shown(overview.state)}.`);
    else if (failed > before.failed) announce(`${amount(failed, "node")} failed.`);
    else if (held > before.held) announce(`${amount(held, "node")} held.`);
  }

  /** What the address says: a view, and perhaps a node. */
  show(view, node) {
    this.wanted = { view: VIEWS[view] ? view : "picture", node };
    if (!this.body.hidden) this.apply();
  }

  apply() {
    const { node } = this.wanted;
    const view = this.tabs[this.wanted.view].hidden ? "picture" : this.wanted.view;
    if (view !== this.view) {
      if (this.view) {
        this.panels[this.view].hidden = true;
        this.views[this.view].hide();
      }
      this.view = view;
      this.panels[view].hidden = false;
      for (const [one, tab] of Object.entries(this.tabs)) {
        tab.setAttribute("aria-selected", String(one === view));
        tab.setAttribute("tabindex", one === view ? "0" : "-1");
      }
      this.views[view].open(view === "nodes" ? this.filter : undefined);
      this.filter = undefined;
    }
    this.node = node;
    if (node === null) this.details.close();
    else this.details.open(node);
    this.views.picture.mark(node);
    this.views.nodes.mark(node);
  }

  showState(state) {
    if (this.view === "nodes") this.views.nodes.open({ state });
    else {
      this.filter = { state };
      this.work.go("nodes", this.node);
    }
  }

  /** A node by its number, or by its name, which is looked up. */
  async chooseNode(node) {
    if (typeof node === "number") {
      this.details.wantsFocus = true;
      this.work.go(this.view, node);
      return;
    }
    try {
      const { rows } = await this.live.api.get("nodes", { search: node.replace(/[?*]/g, "?"), limit: 200 });
      const lower = node.toLowerCase();
      const found = rows.find((row) => row.name === node) ?? rows.find((row) => row.name.toLowerCase() === lower);
      if (found) this.chooseNode(found.number);
      else failure("Node", new Error(`there is no node ${shown(node)} in this DAG`));
    } catch (error) {
      failure("Node", error);
    }
  }

  chooseGroup(group) {
    this.work.go(ONLY_WITH_GROUPS, this.node);
    this.views.sites.choose(group);
  }

  closeNode() {
    this.work.go(this.view, null);
    this.tabs[this.view].focus({ preventScroll: true });
  }

  openFile(node, kind, path) {
    this.views.files.openNodeFile(node, kind, path);
    this.work.go("files", this.node);
  }

  tabKey(event) {
    const names = Object.keys(VIEWS).filter((view) => !this.tabs[view].hidden);
    const place = names.indexOf(this.view);
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const view = names[(next + names.length) % names.length];
    this.work.go(view, this.node);
    this.tabs[view].focus();
  }
}
