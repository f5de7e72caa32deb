// The head of a DAG's page: what it is, how far it is, when it will be done, what holds it up; buttons and dials.

import { bar, legend } from "./bar.js";
import { DAG_COMMANDS, run } from "./commands.js";
import { dials } from "./dials.js";
import { button, el, name, setText, shown } from "./dom.js";
import { hurdles } from "./hurdles.js";
import { sharedLimits } from "./shared_limits.js";
import { countsOf, doneOf } from "./states.js";
import { clock, duration, number, percent, rate } from "./words.js";

const ENDED = ["succeeded", "failed", "removed", "interrupted"];

/** A number with its name below. */
function figure(label) {
  const value = el("dd");
  const element = el("div", {}, el("dt", {}, label), value);
  return {
    element,
    show(text, className = "") {
      element.hidden = !text;
      setText(value, text);
      value.className = className;
    },
  };
}

/** The head; `show(overview)` fills it. `chooseState(state)` is called by a click on the legend. */
export class Head {
  constructor(live, chooseState) {
    this.live = live;
    this.title = el("h1");
    this.state = el("span", { class: "dag-state" });
    this.place = el("p", { class: "soft place" });
    this.note = el("p", { class: "note" });
    this.figures = {
      share: figure("done"), nodes: figure("nodes done"), failed: figure("failed"), running: figure("running"),
      rate: figure("rate"), left: figure("estimated time left"), at: figure("estimated end"), took: figure("took"),
    };
    this.bar = bar();
    this.legend = legend(chooseState);
    this.hurdles = hurdles(live);
    this.sharedLimits = sharedLimits();
    this.dials = dials(live);
    this.buttons = Object.fromEntries(Object.entries(DAG_COMMANDS).map(([command, known]) => [command,
      button(known.label, () => run(live, command), { title: known.tells, class: known.asks ? "grave" : null })]));
    const buttons = el("div", { class: "buttons", role: "group", "aria-label": "Commands for the DAG" },
      Object.values(this.buttons));
    this.whyNot = el("p", { class: "soft why-not" });
    this.element = el("section", { class: "head", "aria-label": "Overview" },
      el("div", { class: "head-line" },
        el("div", { class: "head-name" }, el("div", { class: "title-line" }, this.title, this.state), this.place), buttons),
      this.note,
      el("dl", { class: "numbers" }, Object.values(this.figures).map((one) => one.element)),
      this.bar.element, this.legend.element, this.hurdles.element, this.sharedLimits.element, this.dials.element,
      this.whyNot);
  }

  show(overview) {
    const counts = countsOf(overview);
    const total = overview.counts?.total ?? 0;
    this.showName(overview);
    this.showFigures(overview, counts, total);
    this.bar.show(counts, total);
    this.legend.show(counts);
    this.hurdles.show(overview);
    this.sharedLimits.show(overview);
    this.showControls(overview);
  }

  showName(overview) {
    const file = overview.dag.split("/").pop();
    if (this.shownFile !== overview.dag) {
      this.title.replaceChildren(name(file));
      this.shownFile = overview.dag;
    }
    const code = typeof overview.exit_code === "number" ? `, exit code ${overview.exit_code}` : "";
    setText(this.state, `${shown(overview.state)}${code}`);
    this.state.dataset.state = overview.state;
    const parts = [];
    if (overview.dag.includes("/")) parts.push(shown(overview.dag.slice(0, -file.length - 1)) || "/");
    if (overview.cluster) parts.push(`job ${overview.cluster}`);
    if (overview.begun) {
      const took = duration((overview.ended || overview.now) - overview.begun);
      const begun = clock(overview.begun);
      parts.push(overview.ended ? `${begun} to ${clock(overview.ended)}` : `since ${begun}, ${took}`);
    }
    setText(this.place, parts.join(" · "));
    setText(this.note, shown(overview.note));
    this.note.hidden = !overview.note || (overview.notices ?? []).some(({ cause }) => cause.startsWith("dagman."));
  }

  showFigures(overview, counts, total) {
    const ended = Boolean(overview.ended) || ENDED.includes(overview.state);
    const { share, nodes, failed, running, rate: pace, left, at, took } = this.figures;
    const done = doneOf(counts);
    share.show(total ? percent(done, total) : "");
    nodes.show(`${number(done)} of ${number(total)}`);
    failed.show(counts.failed ? number(counts.failed) : "", "bad");
    running.show(!ended ? number(counts.running) : "");
    pace.show(!ended && overview.per_second ? rate(overview.per_second) : "");
    const hasEstimate = !ended && overview.remaining_s !== null && overview.remaining_s !== undefined;
    left.show(hasEstimate ? duration(overview.remaining_s) : "");
    at.show(hasEstimate ? clock(overview.now + overview.remaining_s, overview.now).replace(/:\d\d$/, "") : "");
    took.show(overview.ended && overview.begun ? duration(overview.ended - overview.begun) : "");
  }

  showControls(overview) {
    const controls = overview.controls ?? { can: false, why_not: "", limits: {} };
    for (const one of Object.values(this.buttons)) one.disabled = !controls.can;
    this.buttons.halt.hidden = Boolean(controls.halted);
    this.buttons.resume.hidden = !controls.halted;
    const over = overview.ended || ENDED.includes(overview.state);
    this.dials.element.hidden = over || (!controls.can && !controls.limits);
    this.dials.show(controls);
    const again = overview.state === "succeeded" ? "" : " To continue it, submit it again.";
    const why = over ? `The DAG has ended.${again}` : shown(controls.why_not);
    setText(this.whyNot, controls.can && !over ? "" : why);
    this.whyNot.hidden = !this.whyNot.textContent;
  }
}
