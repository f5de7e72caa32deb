// The runs of a DAG, and where two of them differ: what `condor_pydagman report --compare` prints.

import { dags } from "./api.js";
import { button, el, freshId, name, setText, shown } from "./dom.js";
import { showStanding } from "./states.js";
import { amount, clock, duration, number } from "./words.js";

const NODE = "node "; // before names in rows about nodes
const HEADS = ["Run", "State", "Began", "Took", "Nodes begun", "Attempts", "Failed attempts", "Jobs ran"];

export class RunsView {
  /** @param chooseName called with the name of a node */
  constructor(live, chooseName) {
    this.live = live;
    this.chooseName = chooseName;
    const [one, other] = ["A", "B"].map((label) => this.choice(label));
    this.one = one.select;
    this.other = other.select;
    this.message = el("p", { class: "soft", role: "status" });
    this.runs = el("tbody");
    this.rows = el("tbody");
    this.compared = el("div", { class: "wide", hidden: true }, el("table", { "aria-label": "Comparison" }, this.rows));
    this.element = el("div", { class: "runs" },
      el("div", { class: "wide" }, el("table", { "aria-label": "Runs" },
        el("thead", {}, el("tr", {}, HEADS.map((head) => el("th", { scope: "col" }, head)))), this.runs)),
      el("h3", {}, "Compare two runs"),
      el("div", { class: "view-tools" }, one.element, other.element, this.message), this.compared);
  }

  choice(label) {
    const id = freshId("run");
    const select = el("select", { id, onchange: () => this.load() });
    return { select, element: el("span", { class: "flag" }, el("label", { for: id }, label), select) };
  }

  open() {
    this.load();
  }

  hide() {
    this.round = (this.round ?? 0) + 1;
  }

  async load() {
    const round = (this.round = (this.round ?? 0) + 1);
    setText(this.message, "Reading the runs…");
    const [kind, one] = this.one.value.split(" ");
    try {
      const asked = { a: kind === "run" ? one : "", b: this.other.value, of: kind === "dag" ? one : "" };
      const answer = await this.live.api.get("runs", asked, 60000);
      const others = this.others ?? (await dags()).dags;
      if (round !== this.round) return;
      this.others = others;
      this.show(answer);
    } catch (error) {
      if (round === this.round) setText(this.message, `Can't read the runs: ${shown(error.message)}`);
    }
  }

  show({ runs, rows, a, b }) {
    const option = (value, text) => el("option", { value }, text);
    const own = runs.map((run) => [run.number, `run ${run.number}, ${clock(run.begun)}`]).reverse();
    const others = this.others.filter((dag) => dag.id !== this.live.api.id);
    const chosen = this.one.value || (a ? `run ${a}` : "");
    this.one.replaceChildren(option("", "choose a run"), ...own.map(([run, text]) => option(`run ${run}`, text)),
      el("optgroup", { label: "Last run of another DAG" },
        others.map((dag) => option(`dag ${dag.id}`, shown(`${dag.file} in ${dag.directory}`).slice(0, 120)))));
    this.one.value = chosen;
    this.other.replaceChildren(...own.map(([run, text]) => option(run, text)));
    this.other.value = String(b);
    this.runs.replaceChildren(...[...runs].reverse().map(runRow));
    this.rows.replaceChildren(...rows.map((row, place) => this.row(row, place)));
    this.compared.hidden = !rows.length;
    setText(this.message, rows.length ? "" : `There ${runs.length === 1 ? "is" : "are"} ${amount(runs.length, "run")}.`);
  }

  row([what, ...cells], place) {
    const node = what.startsWith(NODE) ? what.slice(NODE.length) : "";
    const head = node ? button(name(node), () => this.chooseName(node), { class: "near" }) : shown(what);
    return el("tr", {}, el("th", { scope: "row" }, head),
      cells.map((cell) => el(place ? "td" : "th", { dir: "auto" }, shown(cell))));
  }
}

function runRow(run) {
  const state = el("span", { class: "dag-state" });
  showStanding(state, run.state, {}, typeof run.exit_code === "number" ? `, exit code ${run.exit_code}` : "");
  const cells = [clock(run.begun), duration(run.took_s), number(run.nodes), number(run.attempts), number(run.failed),
    duration(run.ran_s)];
  return el("tr", {}, el("th", { scope: "row" }, String(run.number)), el("td", {}, state),
    cells.map((cell) => el("td", {}, cell)));
}
