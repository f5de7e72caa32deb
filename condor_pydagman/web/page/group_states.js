// States of groups of nodes that run at sites, and the marks of sites: words, signs and classes.

import { el, name, shown } from "./dom.js";
import { chip } from "./states.js";

const COLOURS = 8; // further sites share one colour, as in the pictures of `condor_pydagman draw`

// In the order of a life: what people read, the state of nodes whose sign it has, what it means.
const STATES = {
  unmatched: ["not started", "waiting", "none of its nodes can start yet"],
  waiting: ["waiting for a site", "idle", "DAGMan is looking for a site"],
  claimed: ["matched", "ready", "a site is reserved for it"],
  matched: ["at its site", "running", "its nodes are running there"],
  leaving: ["leaving its site", "retry", "its jobs are being removed, then it is matched again"],
  cleaning: ["cleaning up", "post", "its clean-up node is running at the old site"],
  over: ["ended", "done", "all its nodes have ended"],
  siteless: ["no site", "failed", "it reached its limit of time or attempts, so its nodes fail"],
};

export const GROUP_STATES = Object.keys(STATES);

/** The word that people read. */
export function groupWord(state) {
  return STATES[state]?.[0] ?? shown(state);
}

/** What it means, in a few words. */
export function groupMeaning(state) {
  return STATES[state]?.[2] ?? "";
}

/** Its sign, for beside the word. */
export function groupChip(state) {
  return chip(STATES[state]?.[1] ?? "waiting");
}

/** The class with the colour of a site, by its number; 1 is the first. */
export function siteClass(number) {
  return number <= COLOURS ? `site-${number}` : "site-more";
}

/** A piece of the site's colour. */
export function swatch(className) {
  return el("span", { class: `swatch ${className}`, "aria-hidden": "true" });
}

/** The number of a site, by which it has its colour; 0 if it has none. */
export function siteNumber(live, site) {
  return (live.sites?.names.indexOf(site) ?? -1) + 1;
}

/** A site by its name, with its colour if it has one. */
export function siteName(live, site) {
  if (!site) return null;
  const number = siteNumber(live, site);
  return el("span", { class: "at-place" }, number ? swatch(siteClass(number)) : null, name(site));
}
