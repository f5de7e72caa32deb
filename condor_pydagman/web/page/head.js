// The head of a DAG's page: what it is, how far it is, when it will be done, what holds it up; its commands, its limits and
// its priority.

import { bar, legend } from "./bar.js";
import { DAG_COMMANDS, NODE_COMMANDS, nodesInState, perform, run } from "./commands.js";
import { button, copyable, el, freshId, name, setText, shown } from "./dom.js";
import { failure } from "./notices.js";
import { countsOf, doneOf, isOver, showStanding, word } from "./states.js";
import { amount, clock, duration, number, percent, rate, result } from "./words.js";

const MAX_NAMED = 5; // nodes that a notice names at most: of more, the server tells these only
const SAID_ALREADY = ["throttle.full", "limit.full", "enough.reached"]; // by the sentence
const LIMIT = { command: "limits", min: 0 };
const MOST = 2147483647;
const DIALS = [
  { name: "jobs", label: "Jobs", tells: "maximum number of nodes with jobs in the queue; 0 means no limit", ...LIMIT },
  { name: "idle", label: "Idle jobs", tells: "no job is submitted while this many are idle; 0 means no limit", ...LIMIT },
  { name: "pre", label: "PRE scripts", tells: "maximum number of PRE scripts at a time; 0 means no limit", ...LIMIT },
  { name: "post", label: "POST scripts", tells: "maximum number of POST scripts at a time; 0 means no limit", ...LIMIT },
  {
    name: "priority", label: "Priority", tells: "of the DAG's jobs; higher runs first", command: "priority", option: "value",
    min: -MOST,
  },
];

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
      bundles: figure("bundles running"),
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
    this.again = copyable();
    this.element = el("section", { class: "head", "aria-label": "Overview" },
      el("div", { class: "head-line" },
        el("div", { class: "head-name" }, el("div", { class: "title-line" }, this.title, this.state), this.place), buttons),
      this.note, this.hurdles.element, this.whyNot, this.again.element,
      el("dl", { class: "numbers" }, Object.values(this.figures).map((one) => one.element)),
      this.bar.element, this.legend.element, this.sharedLimits.element, this.dials.element);
  }

  show(overview) {
    const counts = countsOf(overview);
    const total = overview.counts?.total ?? 0;
    this.showName(overview, counts);
    this.showFigures(overview, counts, total);
    this.bar.show(counts, total);
    this.legend.show(counts);
    this.hurdles.show(overview, [...failedNodes(overview, counts.failed), ...(overview.notices ?? [])]);
    this.sharedLimits.show(overview);
    this.showControls(overview);
  }

  showName(overview, counts) {
    const file = overview.dag.split("/").pop();
    if (this.shownFile !== overview.dag) {
      this.title.replaceChildren(name(file));
      this.shownFile = overview.dag;
    }
    const code = typeof overview.exit_code === "number" ? `, exit code ${overview.exit_code}` : "";
    showStanding(this.state, overview.state, counts, code);
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
    const ended = Boolean(overview.ended) || isOver(overview.state);
    const { share, nodes, failed, running, bundles, rate: pace, left, at, took } = this.figures;
    const done = doneOf(counts);
    share.show(total ? percent(done, total) : "");
    nodes.show(`${number(done)} of ${number(total)}`);
    failed.show(counts.failed ? number(counts.failed) : "", "bad");
    running.show(!ended ? number(counts.running) : "");
    const { bundles: packed } = overview;
    bundles.show(!ended && packed ? `${number(packed.running)} of ${number(packed.open)}` : "");
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
    const over = overview.ended || isOver(overview.state);
    this.dials.element.hidden = over || (!controls.can && !controls.limits);
    this.dials.show(controls);
    const again = !overview.again || overview.state === "succeeded" ? "" : " To continue it, submit it again:";
    this.again.show(over && again ? shown(overview.again) : "");
    const why = over ? `The DAG has ended.${again}` : shown(controls.why_not);
    setText(this.whyNot, controls.can && !over ? "" : why);
    this.whyNot.hidden = !this.whyNot.textContent;
  }
}

/** The nodes that have failed, as a notice. */
function failedNodes({ failures = [], ended, state }, failed) {
  if (!failed) return [];
  const nodes = failures.map(({ node }) => node);
  const named = nodes.length < failed ? `, the last of them ${nodes.join(", ")}` : `: ${nodes.join(", ")}`;
  const [last] = failures;
  const why = last && { source: last.node, text: last.reason || (last.value === null ? "" : result(last.value)) };
  return [{
    cause: "node.failed", weight: "problem", nodes: nodes.length < failed ? [] : nodes, evidence: why ? [why] : [],
    sentence: `${amount(failed, "node")} ${failed === 1 ? "has" : "have"} failed${nodes.length ? named : ""}`,
    button: ended || isOver(state) ? "" : "rerun", state: "failed", count: failed,
  }];
}

/** What there is to say of a DAG; `show(overview, notices)` fills it in. What stays keeps its button, and that the focus. */
function hurdles(live) {
  const element = el("ul", { class: "hurdles", "aria-label": "What there is to say of the DAG" });
  const rows = new Map();
  return {
    element,
    show(overview, notices) {
      const keys = notices.map((one, place) => [place, one.cause, one.command, one.nodes, one.button].join(" "));
      const isSame = keys.length === rows.size && keys.every((key) => rows.has(key));
      if (!isSame) {
        rows.clear();
        notices.forEach((notice, place) => rows.set(keys[place], hurdle(live, notice)));
        element.replaceChildren(...[...rows.values()].map((one) => one.element));
      }
      notices.forEach((notice, place) => rows.get(keys[place]).show(notice, overview));
    },
  };
}

function hurdle(live, notice) {
  const sentence = el("span", { class: "hurdle-sentence" });
  const why = el("span", { class: "soft" });
  const act = notice.button ? steer(live, notice) : null;
  const command = copyable(shown(notice.command));
  return {
    element: el("li", { class: `hurdle w-${notice.weight}` }, sentence, why,
      act || notice.command ? el("span", { class: "hurdle-act" }, act, command.element) : null),
    show(now, overview) {
      setText(sentence, shown(now.sentence));
      setText(why, because(now, overview.now));
      why.hidden = !why.textContent;
      if (!act) return;
      act.hidden = !overview.controls?.can;
      command.show(act.hidden ? shown(notice.command) : "");
    },
  };
}

function because({ cause, evidence = [], since }, now) {
  const [first] = SAID_ALREADY.includes(cause) ? [] : evidence;
  const parts = since ? [`since ${clock(since, now)}`] : [];
  if (first) parts.push([first.source, first.text].filter(Boolean).map(shown).join(": "));
  return parts.join(" · ");
}

/** The button that does what the command does, for all nodes that the notice is about. */
function steer(live, { button: command, nodes = [], command: words, state: of, count = 0 }) {
  if (DAG_COMMANDS[command]) return button(DAG_COMMANDS[command].confirm, () => run(live, command), { title: shown(words) });
  const known = NODE_COMMANDS[command];
  const isWhole = nodes.length > 0 && nodes.length < MAX_NAMED;
  const state = of ?? known.states[0];
  const some = isWhole ? { selector: { names: nodes }, words: amount(nodes.length, "node") } : nodesInState(state, count);
  const label = isWhole ? known.label : `${known.label} all that are ${word(state)}`;
  return button(label, () => run(live, command, some), { title: shown(words) });
}

/**
 * The limits that a DAG shares with others: how much of each is taken, by this DAG and in all, and what waits for it.
 * A DAG that shares none shows nothing.
 */
function sharedLimits() {
  const title = el("span", { class: "dials-title", id: freshId("shared-limits") }, "Shared limits");
  const list = el("ul", { "aria-labelledby": title.id });
  const element = el("div", { class: "shared-limits", hidden: true }, title, list);
  let known = "";
  return {
    element,
    show(overview) {
      const limits = overview.shared_limits ?? [];
      const key = JSON.stringify(limits);
      if (key === known) return;
      known = key;
      element.hidden = !limits.length;
      list.replaceChildren(...limits.map(sharedLimit));
    },
  };
}

function sharedLimit(limit) {
  const others = Math.max(limit.taken - limit.own, 0);
  const words = `${number(limit.taken)} of ${number(limit.most)} ${limit.what} in use, ${number(limit.own)} by this DAG`
    + (limit.ahead ? `, ${number(limit.ahead)} kept for nodes to come` : "");
  const waits = limit.waiting > 0 && el("span", { class: "shared-limit-waits" },
    `${amount(limit.waiting, limit.waits)} ${limit.waiting === 1 ? "is" : "are"} waiting`);
  return el("li", { class: "shared-limit" },
    el("span", { class: "share-bar", "aria-hidden": "true" },
      part("own", limit.own, limit.most), part("others", others, limit.most)),
    name(limit.name), el("span", {}, words), waits);
}

function part(whose, taken, most) {
  const element = el("span", { class: `of-${whose}` });
  element.style.width = `${Math.min(100, (100 * taken) / most)}%`;
  return element;
}

/** The dials of a DAG; `show(controls)` gives them what the server says, but for those that are being changed. */
function dials(live) {
  const fields = DIALS.map((dial) => {
    const id = freshId("dial");
    const input = el("input", {
      type: "number", id, name: dial.name, min: dial.min, max: MOST, step: 1, autocomplete: "off",
      title: dial.tells, "aria-describedby": `${id}-tells`,
    });
    const element = el("div", { class: "dial" }, el("label", { for: id, title: dial.tells }, dial.label), input,
      el("span", { class: "unseen", id: `${id}-tells` }, dial.tells));
    return { dial, input, element, known: null };
  });
  const apply = el("button", { type: "submit", disabled: true }, "Apply");
  const problem = el("span", { class: "problem", role: "alert" });
  const form = el("form", { class: "dials", novalidate: true, "aria-label": "Limits and priority" },
    fields.map((field) => field.element), apply, problem);
  const summary = el("summary", { class: "dials-title" }, "Limits");
  const element = el("details", { class: "limits" }, summary, form);
  let can = false;

  const changed = () => fields.filter(({ input, known }) => input.value.trim() !== String(known ?? ""));
  const look = () => {
    const dirty = changed();
    const wrong = dirty.find(({ input }) => !input.validity.valid || !/^-?\d+$/.test(input.value.trim()));
    for (const { input } of fields) input.classList.toggle("changed", dirty.some((field) => field.input === input));
    for (const { input } of fields) input.setAttribute("aria-invalid", String(input === wrong?.input));
    setText(problem, wrong ? `${wrong.dial.label} must be a whole number${wrong.dial.min === 0 ? ", 0 or more" : ""}.` : "");
    apply.disabled = !can || !dirty.length || Boolean(wrong);
  };
  form.addEventListener("input", look);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const { input, known } of fields) input.value = known ?? "";
    look();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    look();
    if (apply.disabled) return;
    apply.disabled = true;
    await send(live, changed());
    look();
  });
  return {
    element,
    show(controls) {
      can = controls.can;
      const set = fields.map(({ dial }) => limitInWords(dial, controls.limits?.[dial.name])).filter(Boolean);
      setText(summary, `Limits: ${set.join(", ") || "none"}`);
      for (const field of fields) {
        const { dial, input } = field;
        const value = controls.limits?.[dial.name] ?? null;
        if (input.value.trim() === String(field.known ?? "")) input.value = value ?? "";
        field.known = value;
        input.disabled = !can;
      }
      look();
    },
  };
}

/** `50 idle jobs`, `priority 7`; "" of what is not limited. */
function limitInWords({ label, command }, value) {
  const words = label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  if (!value) return "";
  return command === "priority" ? `${words} ${number(value)}` : `${number(value)} ${words}`;
}

async function send(live, changed) {
  for (const command of ["limits", "priority"]) {
    const fields = changed.filter(({ dial }) => dial.command === command);
    if (!fields.length) continue;
    try {
      await perform(live, command, null,
        Object.fromEntries(fields.map(({ dial, input }) => [dial.option ?? dial.name, Number(input.value)])));
      for (const field of fields) field.known = Number(field.input.value);
    } catch (error) {
      failure("Limits", error);
    }
  }
}
