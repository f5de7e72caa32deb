// States of nodes and of groups: their order, words, signs and classes. The server has the table of those of nodes, and has
// put it into the first answer; colours are in states.css, which it makes from the same. Each state has a sign besides, so
// that it can be told without colours.

import { el, shown, svg } from "./dom.js";
import { number } from "./words.js";

const table = (name) => JSON.parse(/** @type {HTMLMetaElement} */ (document.querySelector(`meta[name=${name}]`)).content);
const TABLE = table("states");
const OF_DAGS = table("dag-states"); // states of DAGs: that of nodes whose colour and sign each has

export const DAG_STATES = Object.keys(OF_DAGS);

// In the order of a bar.
export const STATES = Object.keys(TABLE);

/** The word that people read. */
export function word(state) {
  return TABLE[state]?.word ?? TABLE[known(state)].word;
}

/** What it means, in a few words. */
export function meaning(state) {
  return TABLE[state]?.meaning ?? "";
}

/** The class that gives an element the colours of a state; of none it knows, those of waiting. */
export function stateClass(state) {
  return `s-${known(state)}`;
}

/** The state as the page knows it. */
export function known(state) {
  return TABLE[state] ? state : "waiting";
}

/** The state whose colour a box of nodes in several states has: that of the worst, if a person has to look at one. */
export function worstOf(counts) {
  const bad = STATES.filter((state) => counts[state] && TABLE[state].worst !== null);
  return bad.sort((one, other) => TABLE[one].worst - TABLE[other].worst)[0] ?? null;
}

const OVER = ["succeeded", "failed", "removed", "interrupted"]; // states of a DAG

/** Whether a DAG in this state runs no more. */
export function isOver(state) {
  return OVER.includes(state);
}

/** The state whose colour and sign a DAG has: that of its worst nodes, or else its own. */
export function lookOf(state, counts) {
  return (!isOver(state) && troubles(counts)[0]) || OF_DAGS[state];
}

const troubles = (counts) => ["failed", "held"].filter((one) => counts[one]);

/** Fill `element` with how a DAG stands, what its state does not say first: `1 failed, 2 held · running`. */
export function showStanding(element, state, counts, more = "") {
  const bad = isOver(state) ? [] : troubles(counts);
  const words = bad.map((one) => `${number(counts[one])} ${word(one)}`).join(", ");
  const told = `${words}${words && " · "}${shown(state)}${more}`;
  const look = lookOf(state, counts);
  if (element.textContent === told && element.dataset.look === look) return;
  element.replaceChildren(chip(look), el("span", {}, told));
  element.className = `dag-state ${stateClass(look)}`;
  element.title = told;
  Object.assign(element.dataset, { state, look });
}

/** Whether a state is among some, or is counted as one of them: a node that was skipped counts as done. */
export function isAmong(state, states) {
  return states.includes(state) || states.includes(TABLE[state]?.counted);
}

/** States that are counted as this one, itself first. */
export function countedAs(state) {
  return [state, ...STATES.filter((one) => one !== state && TABLE[one].counted === state)];
}

/** How many nodes count as done. */
export function doneOf(counts) {
  return countedAs("done").reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** The path of a state's sign. */
export function signPath(state) {
  return TABLE[known(state)].sign;
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

// States of groups of nodes that run at sites, in the order of a life: what people read, the state of nodes whose sign it
// has, what it means.
const OF_GROUPS = {
  unmatched: ["not started", "waiting", "none of its nodes can start yet"],
  waiting: ["waiting for a site", "idle", "DAGMan is looking for a site"],
  claimed: ["matched", "ready", "a site is reserved for it"],
  matched: ["at its site", "running", "its nodes are running there"],
  leaving: ["leaving its site", "retry", "its jobs are being removed, then it is matched again"],
  cleaning: ["cleaning up", "post", "its clean-up node is running at the old site"],
  over: ["ended", "done", "all its nodes have ended"],
  siteless: ["no site", "failed", "it reached its limit of time or attempts, so its nodes fail"],
};

export const GROUP_STATES = Object.keys(OF_GROUPS);

/** The word that people read. */
export function groupWord(state) {
  return OF_GROUPS[state]?.[0] ?? shown(state);
}

/** What it means, in a few words. */
export function groupMeaning(state) {
  return OF_GROUPS[state]?.[2] ?? "";
}

/** Its sign, for beside the word. */
export function groupChip(state) {
  return chip(OF_GROUPS[state]?.[1] ?? "waiting");
}
