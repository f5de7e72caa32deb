// Sentences for the person: short notices at the edge of the page, and a region that only screen readers read.

import { button, el, setText } from "./dom.js";

const STAYS_MS = 8000;
const CALM_MS = 5000; // between two announcements

/** Show a sentence for a while; errors stay until they are closed. `details`: further lines and their heading. */
export function notice(sentence, { bad = false, details: { heading, lines } = { heading: "", lines: [] } } = {}) {
  const box = el("div", { class: `notice${bad ? " bad" : ""}` },
    el("div", { class: "notice-text" }, el("p", {}, sentence),
      heading ? el("p", {}, heading) : null,
      lines.length ? el("ul", {}, lines.map((line) => el("li", {}, line))) : null),
    button("×", () => box.remove(), { class: "quiet close", "aria-label": "Close this notice" }));
  const all = document.getElementById("notices");
  while (all.children.length >= 4) all.firstElementChild.remove();
  all.append(box);
  if (!bad) setTimeout(() => box.remove(), STAYS_MS + 60 * sentence.length);
}

let waiting = "";
let timer = 0;
/** Tell screen readers, calmly: of several sentences in a few seconds only the last one is read. */
export function announce(sentence) {
  waiting = sentence;
  if (timer) return;
  const speak = () => {
    setText(document.getElementById("announcer"), waiting);
    waiting = "";
    timer = setTimeout(() => {
      timer = 0;
      if (waiting) announce(waiting);
    }, CALM_MS);
  };
  timer = setTimeout(speak, 100);
}

/** Show why something could not be done. */
export function failure(what, error) {
  notice(`${what}: ${error.message}`, { bad: true });
}
