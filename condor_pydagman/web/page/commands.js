// Commands to a DAG, its nodes and groups of them: what they are called, and the way from a click to what is done.
//
// The server is first asked what the command would do (`dry`). A command that loses work, leaves out nodes, or has
// options, is shown in a dialog with that sentence, once; all else is done at once and told afterwards.

import { ask } from "./ask.js";
import { button, shown } from "./dom.js";
import { failure, notice } from "./notices.js";
import { groupWord, word } from "./states.js";
import { amount, number } from "./words.js";

const MAX_TOLD = 5; // refusals that are shown one by one

const STAYS = "Empty fields stay unchanged."; // before something is typed that is to be set
const META = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=commands]"));

const HINTS = { vars: "name=value, one per line; for jobs not submitted yet", flag: "" };

/** A field of the dialog for an option, as the server tells of it; quotes in its help are for the command line. */
function field({ name, kind, help }) {
  const label = capital(kind === "flag" ? help : name.replace("_", " "));
  const hint = HINTS[kind] ?? help.replaceAll('"', "");
  return { name, kind, label, hint, step: kind === "number" ? 1 : undefined };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// As `buttons` of web/steering.py; `states`: those of a single node in which a command makes sense, the server decides.
const COMMANDS = Object.entries(JSON.parse(META.content)).map(([name, { button: label, help, options, ...known }]) => [name,
  { ...known, label, tells: capital(help), options: options.map(field) }]);
const offered = (what) => Object.fromEntries(COMMANDS.filter(([, { of }]) => of === what));

export const NODE_COMMANDS = offered("nodes");
const GROUP_COMMANDS = offered("group");
export const DAG_COMMANDS = offered("dag");

/** Nodes by their numbers, and words for them. */
export function someNodes(rows) {
  if (rows.length === 1) return { selector: { numbers: [rows[0].number] }, words: `node ${shown(rows[0].name)}` };
  return { selector: { numbers: rows.map((row) => row.number) }, words: amount(rows.length, "node") };
}

const allNodes = (count) => (count === 1 ? "the node" : `all ${amount(count, "node")}`);

/** All nodes in a state. */
export function nodesInState(state, count) {
  return { selector: { state }, words: `${allNodes(count)} in the state "${word(state)}"` };
}

/** All nodes whose names match a pattern. */
export function nodesLike(pattern, count) {
  const all = allNodes(count);
  return { selector: { pattern }, words: pattern === "*" ? all : `${all} named ${shown(pattern)}` };
}

/** A group of nodes that run at one site. */
function oneGroup({ name, site, done, total }) {
  const at = site ? ` at ${shown(site)}` : "";
  return { selector: { group: name }, words: `group ${shown(name)}${at}, ${number(done)} of ${amount(total, "node")} done` };
}

/** A refusal as a line. */
function refusal({ node, state, reason }) {
  return `${shown(node)}${state ? ` (${word(state)})` : ""}: ${shown(reason)}`;
}

/** Lines about the nodes that a command does not fit, and a heading, "" without any. */
function refusals(answer) {
  const told = (answer.refused ?? []).slice(0, MAX_TOLD).map(refusal);
  const count = answer.refused_count ?? told.length;
  const lines = count > told.length ? [...told, `and ${amount(count - told.length, "other")}`] : told;
  const heading = count === 1 ? "1 node stays unchanged:" : `${amount(count, "node")} stay unchanged:`;
  return { heading: count ? heading : "", lines };
}

function bodyOf(live, command, nodes, options, dry) {
  return { command, ...(nodes ? { nodes: nodes.selector } : {}), options, seen: live.version, dry };
}

/** Do something at once, and tell what was done. */
export async function perform(live, command, nodes, options) {
  const answer = await live.api.command(bodyOf(live, command, nodes, options, false));
  const refused = refusals(answer);
  notice(shown(answer.effect) || "Done.", { bad: refused.lines.length > 0 && !answer.done, details: refused });
  return answer;
}

/**
 * From a click to what is done.
 *
 * @param command its word
 * @param nodes what `someNodes` and the like return; null for a command on the DAG
 * @param options first values of the options
 * @returns whether it was done
 */
export async function run(live, command, nodes = null, options = {}) {
  const known = (nodes ? { ...NODE_COMMANDS, ...GROUP_COMMANDS } : DAG_COMMANDS)[command];
  const isCancel = command === "cancel"; // that on a button of its dialog would mean either
  const title = isCancel ? known.label : known.confirm;
  const dry = async (chosen) => live.api.command(bodyOf(live, command, nodes, chosen, true));
  try {
    const first = command === "set" ? { effect: STAYS, refused: [] } : await dry(options);
    if (!known.options.length && !first.done && first.refused?.length) {
      notice(shown(first.effect) || `${title}: not possible`, { bad: true, details: refusals(first) });
      return false;
    }
    if (!known.options.length && !known.asks && !first.loses_work) {
      await perform(live, command, nodes, options);
      return true;
    }
    return await ask({
      title: nodes ? `${title}: ${nodes.words}` : title,
      confirm: known.confirm,
      leave: isCancel ? "Don't cancel" : undefined,
      options: known.options,
      first: { answer: first, values: options },
      dry,
      refusals,
      act: (chosen) => perform(live, command, nodes, chosen),
    });
  } catch (error) {
    failure(title, error);
    return false;
  }
}

/** Why a group can't be matched again now; "" if it can. */
function rematchObstacle(live, group) {
  const { controls } = live.overview ?? {};
  if (!controls?.can) return shown(controls?.why_not) || "You can't steer this DAG now.";
  return group.state === "matched" ? "" : `Only for groups at a site. The state of this group: ${groupWord(group.state)}.`;
}

/** Have a button say whether a group can be matched again now. */
export function allowRematch(one, live, group) {
  const why = rematchObstacle(live, group);
  one.disabled = Boolean(why);
  one.title = why || GROUP_COMMANDS.rematch.tells;
}

/** Have a group leave its site. */
export function rematch(live, group) {
  return run(live, "rematch", oneGroup(group));
}

/** The button for that; `more` are further attributes. */
export function rematchButton(live, group, more = {}) {
  const made = button(GROUP_COMMANDS.rematch.label, () => rematch(live, group), more);
  allowRematch(made, live, group);
  return made;
}
