// What there is to say of a DAG: each sentence with what says so, since when, and what does something about it.

import { NODE_COMMANDS, DAG_COMMANDS, nodesInState, run } from "./commands.js";
import { button, el, setText, shown } from "./dom.js";
import { amount, clock } from "./words.js";

const MAX_NAMED = 5; // nodes that a notice names at most: of more, the server tells these only
const SAID_ALREADY = ["throttle.full", "limit.full", "enough.reached"]; // by the sentence

/** The notices of a DAG; `show(overview)` fills them in. What stays is not made anew: its button keeps the focus. */
export function hurdles(live) {
  const element = el("ul", { class: "hurdles", "aria-label": "What there is to say of the DAG" });
  const rows = new Map();
  return {
    element,
    show(overview) {
      const notices = overview.notices ?? [];
      const keys = notices.map((notice, place) => `${place} ${notice.cause} ${notice.command} ${notice.nodes}`);
      const isSame = keys.length === rows.size && keys.every((key) => rows.has(key));
      if (!isSame) {
        rows.clear();
        notices.forEach((notice, place) => rows.set(keys[place], row(live, notice)));
        element.replaceChildren(...[...rows.values()].map((one) => one.element));
      }
      notices.forEach((notice, place) => rows.get(keys[place]).show(notice, overview));
    },
  };
}

function row(live, notice) {
  const sentence = el("span", { class: "hurdle-sentence" });
  const why = el("span", { class: "soft" });
  const act = notice.button ? steer(live, notice) : null;
  const command = notice.command ? el("code", {}, shown(notice.command)) : null;
  return {
    element: el("li", { class: `hurdle w-${notice.weight}` }, sentence, why,
      act || command ? el("span", { class: "hurdle-act" }, act, command) : null),
    show(now, overview) {
      setText(sentence, shown(now.sentence));
      setText(why, because(now, overview.now));
      why.hidden = !why.textContent;
      if (!act) return;
      act.hidden = !overview.controls?.can;
      if (command) command.hidden = !act.hidden;
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
function steer(live, { button: command, nodes = [], command: words }) {
  if (DAG_COMMANDS[command]) return button(DAG_COMMANDS[command].confirm, () => run(live, command), { title: shown(words) });
  const known = NODE_COMMANDS[command];
  const isWhole = nodes.length < MAX_NAMED;
  const [state] = known.states;
  const some = isWhole ? { selector: { names: nodes }, words: amount(nodes.length, "node") } : nodesInState(state, 0);
  const label = isWhole ? known.label : `${known.label} all that are ${state}`;
  return button(label, () => run(live, command, some), { title: shown(words) });
}
