// The attempts of a node over time: a line for each, with what its scripts and jobs did, in the colours of these states.

import { el } from "./dom.js";
import { chip, stateClass, word } from "./states.js";
import { amount, clock, duration } from "./words.js";

const LEAST = 0.4; // per cent of the width, so that a short part is seen
const STATE_OF = { run: "running" }; // parts whose name is not that of a state

const stateOf = (kind) => STATE_OF[kind] ?? kind;

function outcome({ failed }) {
  return failed === null ? "goes on" : word(failed ? "failed" : "done");
}

/** What an attempt did, in words: `PRE script 3 s, running 2 min, failed`. */
function inWords(attempt) {
  const parts = attempt.parts.map(([kind, begin, end]) => `${word(stateOf(kind))} ${duration(end - begin)}`);
  return [...parts, outcome(attempt)].join(", ");
}

function line(attempt, begin, length) {
  const track = el("span", { class: "course-track", role: "img", "aria-label": inWords(attempt) });
  for (const [kind, from, to] of attempt.parts) {
    const title = `${word(stateOf(kind))} ${duration(to - from)}, from ${clock(from)}`;
    const part = el("span", { class: stateClass(stateOf(kind)), title });
    part.style.left = `${Math.min((100 * (from - begin)) / length, 100 - LEAST)}%`;
    part.style.width = `${Math.max((100 * (to - from)) / length, LEAST)}%`;
    track.append(part);
  }
  const ended = attempt.failed ? "failed" : "done";
  const sign = attempt.failed === null ? stateOf(attempt.parts[attempt.parts.length - 1][0]) : ended;
  return el("li", {}, el("span", { class: "soft" }, String(attempt.number + 1)), track,
    el("span", { class: "course-end", title: inWords(attempt) }, chip(sign), duration(attempt.end - attempt.begin)));
}

/** The section of a node's card; null of a node that has not begun. */
export function attemptsSection(attempts, all) {
  if (!attempts.length) return null;
  const begin = Math.min(...attempts.map((one) => one.begin));
  const end = Math.max(...attempts.map((one) => one.end));
  const kinds = [...new Set(attempts.flatMap(({ parts }) => parts.map(([kind]) => stateOf(kind))))];
  const hidden = all - attempts.length;
  return el("section", {}, el("h3", {}, all > 1 ? amount(all, "attempt") : "Attempt"),
    el("ol", { class: "course" }, attempts.map((one) => line(one, begin, Math.max(end - begin, 1)))),
    el("p", { class: "soft course-axis" }, el("span", {}, clock(begin)), el("span", {}, clock(end))),
    el("p", { class: "soft course-legend" }, kinds.map((state) => el("span", {}, chip(state), ` ${word(state)}`)),
      hidden > 0 ? `${amount(hidden, "earlier attempt")} not shown` : null));
}
