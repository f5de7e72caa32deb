// States of nodes: their order, words, signs and classes. Colours are in page.css; each state has a sign besides, so
// that it can be told without colours.

import { svg } from "./dom.js";

// In the order of a bar.
export const STATES = [
  "done", "running", "idle", "held", "pre", "post", "retry", "ready", "waiting", "failed", "futile",
];

const WORDS = { pre: "PRE script", post: "POST script", retry: "waiting for retry", queued: "idle" };

const MEANINGS = {
  done: "finished successfully",
  running: "a job is running",
  idle: "its jobs are waiting in the queue",
  held: "a job is on hold until someone releases it",
  pre: "its PRE script is running",
  post: "its POST script is running",
  retry: "failed and will be retried",
  ready: "can run: waiting for a throttle or for its turn",
  waiting: "waiting for its parents",
  failed: "failed, and is not retried automatically",
  futile: "can't run, because an ancestor failed",
};

// In a square of 12, drawn as lines; those of picture/style.py, and two more.
const SIGNS = {
  waiting: "M6 3.4A2.6 2.6 0 1 0 6.01 3.4",
  ready: "M2.3 6H9.4M6.4 3L9.4 6L6.4 9",
  pre: "M3 2.8V9.2M5.4 3L9.6 6L5.4 9Z",
  idle: "M6 1.6A4.4 4.4 0 1 0 6.01 1.6M6 3.6V6.2L7.8 7.4",
  running: "M4 2.4L9.8 6L4 9.6Z",
  held: "M4 2.8V9.2M8 2.8V9.2",
  post: "M2.4 3L6.6 6L2.4 9ZM9 2.8V9.2",
  retry: "M9.6 6A3.7 3.7 0 1 1 8.4 3.2M8.8 1.2V3.6H6.4",
  done: "M2.2 6.4L4.8 9L9.8 3.2",
  failed: "M2.8 2.8L9.2 9.2M9.2 2.8L2.8 9.2",
  futile: "M6 1.6A4.4 4.4 0 1 0 6.01 1.6M3 9L9 3",
};

/** The word that people read. */
export function word(state) {
  return WORDS[state] ?? state;
}

/** What it means, in a few words. */
export function meaning(state) {
  return MEANINGS[state] ?? "";
}

/** The class that gives an element the colours of a state; of none it knows, those of waiting. */
export function stateClass(state) {
  return `s-${known(state)}`;
}

/** The state as the page knows it. */
export function known(state) {
  if (state === "queued") return "idle";
  return SIGNS[state] ? state : "waiting";
}

/** The path of a state's sign. */
export function signPath(state) {
  return SIGNS[known(state)];
}

/** A state's sign on its colour, for beside a word. */
export function chip(state) {
  return svg("svg", { class: `chip ${stateClass(state)}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("rect", { class: "chip-ground", width: 16, height: 16, rx: 3.5 }),
    svg("path", { class: "sign", d: signPath(state), transform: "translate(2 2)" }));
}

/** Counts by state, whether the server calls them `states` or, with fewer of them, `counts`. */
export function countsOf(overview) {
  const counts = overview.states ?? overview.counts ?? {};
  return Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0]));
}
