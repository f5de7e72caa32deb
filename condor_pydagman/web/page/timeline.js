// How many nodes ran, ended and failed over time, and those that ran longest.

import { button, el, name, setText, shown, svg } from "./dom.js";
import { chip, stateClass, word } from "./states.js";
import { amount, clock, duration, number, tick } from "./words.js";

const POLL_MS = 5000;
const BUCKETS = 120;
const HIGH = 180; // of the chart of running nodes, px
const LOW = 70; // of that of ended ones
const LEFT = 46;
const GAP = 34;
const AXIS = 22;
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
const SPANS = [
  ["", "the whole run"], ["86400", "the last day"], ["21600", "the last 6 h"], ["3600", "the last hour"],
  ["600", "the last 10 min"],
];

export class Timeline {
  constructor(live, chooseNode) {
    this.live = live;
    this.chooseNode = chooseNode;
    this.span = el("select", { id: "timeline-span", onchange: () => this.load() },
      SPANS.map(([value, label]) => el("option", { value }, label)));
    this.message = el("span", { class: "soft", role: "status" });
    this.readout = el("span", { class: "readout soft" });
    this.chart = el("div", { class: "chart" });
    this.longest = el("ol", { class: "longest" });
    this.title = el("h3", {}, "Longest running");
    this.done = el("ul");
    this.whole = el("div", { hidden: true }, el("h3", {}, "Done to the whole DAG"), this.done);
    const tools = el("div", { class: "view-tools" }, el("label", { for: "timeline-span" }, "Time"), this.span,
      this.message, this.readout);
    this.element = el("div", { class: "timeline" }, tools, this.chart, this.whole, this.title,
      this.longest);
    new ResizeObserver(() => this.isShown && this.draw()).observe(this.chart);
  }

  open() {
    this.isShown = true;
    this.load();
  }

  hide() {
    this.isShown = false;
    clearTimeout(this.timer);
  }

  async load() {
    clearTimeout(this.timer);
    const round = (this.round = (this.round ?? 0) + 1);
    try {
      if (!document.hidden || !this.answer) {
        const { overview } = this.live;
        const end = overview?.ended || overview?.now || Date.now() / 1000;
        const from = this.span.value ? Math.max(end - Number(this.span.value), overview?.begun || 0).toFixed(0) : "";
        const answer = await this.live.api.get("timeline", { from, to: from ? Math.ceil(end) : "", buckets: BUCKETS });
        if (round !== this.round) return;
        this.answer = answer;
        setText(this.message, answer.buckets.length ? "" : "Nothing has run yet.");
        this.draw();
      }
    } catch (error) {
      if (round !== this.round) return;
      setText(this.message, `Can't load the timeline: ${shown(error.message)}`);
    }
    if (this.isShown && !this.live.overview?.ended) this.timer = setTimeout(() => this.load(), POLL_MS);
  }

  draw() {
    if (!this.answer) return;
    this.drawLongest();
    const done = this.answer.done ?? [];
    this.whole.hidden = !done.length;
    this.done.replaceChildren(...done.map(({ t, by, what, why }) =>
      el("li", {}, shown([`${clock(t)}:`, by, what, why && `(${why})`].filter(Boolean).join(" ")))));
    const { buckets } = this.answer;
    this.chart.hidden = buckets.length < 2;
    const wide = this.chart.clientWidth;
    if (buckets.length < 2 || !wide) return;
    const plot = new Plot(buckets, wide);
    this.chart.replaceChildren(plot.svg);
    const show = (event) => {
      const bucket = plot.at(event.clientX - plot.svg.getBoundingClientRect().left);
      setText(this.readout, bucket ? describe(bucket) : "");
    };
    plot.svg.addEventListener("pointermove", show);
    plot.svg.addEventListener("pointerleave", () => {
      plot.at(-1);
      setText(this.readout, "");
    });
  }

  drawLongest() {
    const rows = this.answer.longest ?? [];
    const key = JSON.stringify(rows.map((row) => [row.number, row.state, Math.round(row.runtime_s / 10)]));
    if (key === this.longestKey) return;
    this.longestKey = key;
    const most = Math.max(...rows.map((row) => row.runtime_s ?? 0), 1);
    this.title.hidden = !rows.length;
    this.longest.replaceChildren(...rows.map((row) => {
      const part = el("span", { class: `long-bar ${stateClass(row.state)}` });
      part.style.width = `${(100 * (row.runtime_s ?? 0)) / most}%`;
      const words = [chip(row.state), name(row.name), el("span", { class: "unseen" }, ` ${word(row.state)}`)];
      return el("li", {}, button(words, () => this.chooseNode(row.number), { class: "near" }),
        el("span", { class: "long-track" }, part),
        el("span", { class: "soft long-time" }, duration(row.runtime_s ?? 0)));
    }));
  }
}

function describe({ t, running, ended, failed }) {
  const mean = Math.round(running * 10) / 10;
  return `${clock(t)}: ${number(mean)} running, ${number(ended)} ended, ${number(failed)} failed`;
}

/** Two charts above one axis of time. */
class Plot {
  constructor(buckets, wide) {
    this.buckets = buckets;
    this.wide = wide;
    this.step = buckets[1].t - buckets[0].t;
    this.begin = buckets[0].t;
    this.end = buckets[buckets.length - 1].t + this.step;
    const height = HIGH + GAP + LOW + AXIS;
    const narrow = Math.max((wide - LEFT) / buckets.length, 1);
    this.cursor = svg("rect", { class: "cursor", y: 12, height: height - AXIS - 12, width: narrow, visibility: "hidden" });
    const ended = buckets.reduce((sum, bucket) => sum + bucket.ended, 0);
    const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
    const most = Math.max(...buckets.map((bucket) => bucket.running), 0);
    const label = `From ${clock(this.begin)} to ${clock(this.end)}: at most ${amount(Math.round(most), "node")} running `
      + `at a time, ${number(ended)} ended, ${number(failed)} failed`;
    this.svg = svg("svg", { class: "plot", width: wide, height, role: "img", "aria-label": label });
    this.svg.append(this.cursor, ...this.axis(height), ...this.running(Math.max(most, 1)), ...this.endings());
  }

  x(time) {
    return LEFT + ((time - this.begin) / (this.end - this.begin)) * (this.wide - LEFT - 8);
  }

  axis(height) {
    const most = Math.max(Math.floor((this.wide - LEFT) / 90), 2);
    const length = this.end - this.begin;
    const step = STEPS_S.find((one) => length / one <= most) ?? 86400 * Math.ceil(length / 86400 / most);
    const offset = new Date(this.begin * 1000).getTimezoneOffset() * 60; // round local times
    const parts = [];
    for (let time = Math.ceil((this.begin - offset) / step) * step + offset; time <= this.end; time += step) {
      const x = this.x(time);
      parts.push(svg("path", { class: "grid-line", d: `M${x} 12V${height - AXIS}` }));
      const anchor = x > this.wide - 24 ? "end" : "middle";
      parts.push(svg("text", { class: "tick", x, y: height - 6, "text-anchor": anchor }, tick(time, step)));
    }
    return parts;
  }

  scale(top, height, most) {
    return [svg("path", { class: "grid-line", d: `M${LEFT} ${top + height}H${this.wide - 8}` }),
      svg("text", { class: "tick", x: LEFT - 8, y: top + 10, "text-anchor": "end" }, number(Math.round(most))),
      svg("text", { class: "tick", x: LEFT - 8, y: top + height, "text-anchor": "end" }, "0")];
  }

  running(most) {
    const top = 12;
    const high = HIGH - top;
    const y = (value) => (top + high * (1 - value / most)).toFixed(1);
    const x = (time) => this.x(time).toFixed(1);
    const line = this.buckets.map(({ t, running }) => `${x(t)} ${y(running)}H${x(t + this.step)}`).join("L");
    return [...this.scale(top, high, most),
      svg("path", { class: "area s-running", d: `M${x(this.begin)} ${y(0)}L${line}L${x(this.end)} ${y(0)}Z` }),
      svg("path", { class: "area-line s-running", d: `M${line}` }),
      svg("text", { class: "plot-title", x: LEFT + 6, y: top + 12 }, "running")];
  }

  endings() {
    const top = HIGH + GAP;
    const most = Math.max(...this.buckets.map((bucket) => Math.max(bucket.ended, bucket.failed)), 1);
    const wide = Math.max(((this.wide - LEFT - 8) / this.buckets.length) * 0.8, 0.8);
    const column = ({ t }, count, from, state) => svg("rect", {
      class: `column ${stateClass(state)}`, x: this.x(t).toFixed(1), width: wide.toFixed(2),
      y: (top + LOW * (1 - (from + count) / most)).toFixed(1), height: ((LOW * count) / most).toFixed(1),
    });
    const columns = [];
    for (const bucket of this.buckets) {
      const good = bucket.ended - bucket.failed;
      if (bucket.failed) columns.push(column(bucket, bucket.failed, 0, "failed"));
      if (good > 0) columns.push(column(bucket, good, bucket.failed, "done"));
    }
    const title = `ended, and how many of them failed, per ${duration(Math.max(this.step, 1))}`;
    return [...this.scale(top, LOW, most), ...columns, svg("text", { class: "plot-title", x: LEFT + 6, y: top - 6 }, title)];
  }

  /** The bucket at a place, which gets the cursor. */
  at(x) {
    const place = Math.floor(((x - LEFT) / (this.wide - LEFT - 8)) * this.buckets.length);
    const bucket = this.buckets[place];
    this.cursor.setAttribute("visibility", bucket ? "visible" : "hidden");
    if (bucket) this.cursor.setAttribute("x", this.x(bucket.t));
    return bucket;
  }
}
