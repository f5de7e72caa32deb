// Making elements. Text always becomes a text node, never markup: names of nodes and what jobs have written come from
// strangers.

const SVG = "http://www.w3.org/2000/svg";
// Control characters, line separators of Unicode and marks of writing direction, which could make one name look like
// another; and what UTF-8 can't hold.
const CONTROLS = /[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
const CONTROLS_OF_TEXT = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function escaped(character) {
  const code = character.codePointAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** What has the focus, if that is in `place`. */
export function focusedIn(place) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  return place.contains(focused) ? focused : null;
}

/** A name or sentence from elsewhere on one line, with its unprintable characters as `\x1b` or `\u202e`. */
export function shown(text) {
  return String(text ?? "").replace(/[\t\n]/g, " ").replace(CONTROLS, escaped);
}

/** The text of a file: as `shown`, but with its lines. */
export function shownText(text) {
  return String(text ?? "").replace(/\r\n/g, "\n").replace(CONTROLS_OF_TEXT, escaped);
}

/** `text` with at most `length` characters; the middle is left out, as names often differ at both ends. */
export function shortened(text, length) {
  const characters = [...text];
  if (characters.length <= length) return text;
  const head = Math.ceil((length - 1) * 0.6);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (length - 1 - head)).join("")}`;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: attributes by name, `onclick` and the like are listeners; strings become text. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** A button; `more` are further attributes. */
export function button(content, onclick, more = {}) {
  return el("button", { type: "button", onclick, ...more }, content);
}

/** A command with a button that copies it; `show(text)` gives another one, '' none. */
export function copyable(text = "") {
  const code = el("code");
  const copy = button("Copy", async () => {
    getSelection().selectAllChildren(code); // for the keyboard, where the browser refuses
    await navigator.clipboard?.writeText(code.textContent).then(() => setText(copy, "Copied"), () => {});
  }, { class: "chip-button", title: "Copy the command" });
  const element = el("span", { class: "command" }, code, " ", copy);
  const show = (now) => {
    if (code.textContent !== now) setText(copy, "Copy");
    setText(code, now);
    element.hidden = !now;
  };
  show(text);
  return { element, show };
}

/** The same as `el` for SVG. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A name on its own: its direction does not change that of what stands around it. */
export function name(text, attributes) {
  return el("bdi", { class: "name", title: shown(text).length > 60 ? shown(text).slice(0, 2000) : null, ...attributes },
    shortened(shown(text), 400));
}

/** Set the text only if it differs, so that selections and screen readers are left alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let lastId = 0;
/** An id that no other element has. */
export function freshId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/** A function that runs `work` at most every `ms`: at once, and again at the end if it was asked for in between. */
export function calmly(work, ms) {
  let timer = 0;
  let last = -Infinity;
  const run = () => {
    timer = 0;
    last = performance.now();
    work();
  };
  const asked = () => {
    if (!timer) timer = setTimeout(run, Math.max(last + ms - performance.now(), 0));
  };
  asked.stop = () => clearTimeout(timer);
  return asked;
}
