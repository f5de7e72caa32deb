// Text files as they grow: DAGMan's own, and what jobs write. A piece of the file is in the page, never all of it; at
// the end of the file, new text is added.

import { button, el, freshId, setText, shown, shownText } from "./dom.js";
import { size } from "./words.js";

const POLL_MS = 2000;
const FIRST = -65536; // bytes: what is shown of the end at first
const PIECE = 200000; // bytes that are gone back at a time
const MOST = 400000; // characters in the page

const OWN = [["dagman.out", "DAGMan's log"], ["metrics", "Metrics"], ["rescue", "Rescue file"]];

export class TextView {
  constructor(live) {
    this.live = live;
    this.nodeFiles = [];
    const id = freshId("file");
    this.choice = el("select", { id, onchange: () => this.choose(this.choice.value) });
    this.follow = el("input", { type: "checkbox", id: `${id}-follow`, checked: true });
    this.follow.addEventListener("change", () => this.follow.checked && this.choose(this.file));
    this.place = el("span", { class: "soft", role: "status" });
    this.earlier = button("Earlier", () => this.goBack());
    this.text = el("pre", { class: "text", tabindex: 0, role: "region", "aria-label": "Text of the file" });
    this.path = el("p", { class: "soft file-path" });
    this.element = el("div", { class: "text-view" },
      el("div", { class: "view-tools" }, el("label", { for: id }, "File"), this.choice, this.earlier,
        el("span", { class: "flag" }, this.follow, el("label", { for: `${id}-follow` }, "Follow")), this.place),
      this.path, this.text);
    this.text.addEventListener("scroll", () => this.scrolled());
    this.listFiles();
  }

  listFiles() {
    const option = ([value, label]) => el("option", { value }, label);
    const groups = this.nodeFiles.map(({ label, files }) => el("optgroup", { label },
      files.map((file) => option([file.file, `${shown(file.kind)} of ${label}`]))));
    this.choice.replaceChildren(...OWN.map(option), ...groups);
    if (this.file) this.choice.value = this.file;
  }

  /** Show a file of a node. */
  openNodeFile(node, kind, path) {
    const label = shown(node.name).slice(0, 80);
    const file = `${kind}:${node.number}`;
    const known = this.nodeFiles.find((one) => one.number === node.number);
    const entry = { file, kind, path };
    if (!known) this.nodeFiles.unshift({ number: node.number, label, files: [entry] });
    else if (!known.files.some((one) => one.file === file)) known.files.push(entry);
    this.nodeFiles = this.nodeFiles.slice(0, 10);
    this.file = file;
    this.listFiles();
    this.follow.checked = true;
    this.choose(file);
  }

  open() {
    this.isShown = true;
    this.choose(this.file ?? "dagman.out");
  }

  hide() {
    this.isShown = false;
    clearTimeout(this.timer);
    this.round = (this.round ?? 0) + 1;
  }

  choose(file) {
    this.file = file;
    this.choice.value = file;
    const entry = this.nodeFiles.flatMap((node) => node.files).find((one) => one.file === file);
    setText(this.path, entry ? shown(entry.path) : "");
    this.path.hidden = !entry;
    this.text.replaceChildren();
    this.from = this.to = null;
    this.isAtEnd = true;
    if (this.isShown) this.load(FIRST);
  }

  goBack() {
    this.follow.checked = false;
    this.text.replaceChildren();
    const from = Math.max((this.from ?? 0) - PIECE, 0);
    this.from = this.to = null;
    this.isAtEnd = false;
    this.load(from);
  }

  async load(from) {
    clearTimeout(this.timer);
    this.round = (this.round ?? 0) + 1;
    const { round } = this;
    try {
      const answer = await this.live.api.get("text", { file: this.file, from });
      if (round !== this.round) return;
      this.take(answer);
    } catch (error) {
      if (round !== this.round) return;
      setText(this.place, shown(error.message));
      this.earlier.disabled = true;
      this.timer = setTimeout(() => this.load(this.to ?? FIRST), 2 * POLL_MS);
      return;
    }
    const isBehind = this.to < this.size;
    if (this.follow.checked || (isBehind && !this.isFull)) {
      this.timer = setTimeout(() => (document.hidden ? this.rest() : this.load(this.to)), isBehind ? 0 : POLL_MS);
    }
  }

  /** Nobody looks: ask again when somebody does. */
  rest() {
    const goOn = () => this.isShown && this.follow.checked && this.load(this.to ?? FIRST);
    document.addEventListener("visibilitychange", goOn, { once: true });
  }

  take({ from, to, size: whole, text, again }) {
    if (again || this.from === null) {
      this.text.replaceChildren();
      this.from = from;
    }
    const stays = this.isAtEnd && this.follow.checked;
    if (text) this.text.append(shownText(text));
    this.cut(stays);
    this.to = to;
    this.size = whole;
    this.isFull = !this.follow.checked && this.text.textContent.length >= PIECE;
    if (stays) this.text.scrollTop = this.text.scrollHeight;
    this.earlier.disabled = !this.from;
    const part = this.from ? `from ${size(this.from)} on` : "from the beginning";
    const until = this.to < whole ? ` to ${size(this.to)}` : "";
    const none = this.follow.checked ? "empty so far" : "empty";
    setText(this.place, whole ? `${size(whole)}, ${part}${until}` : none);
  }

  /** Only so much stays in the page; of the end if somebody reads there. */
  cut(stays) {
    const pieces = [...this.text.childNodes];
    let length = pieces.reduce((sum, piece) => sum + piece.data.length, 0);
    while (stays && length > MOST && pieces.length > 1) {
      const piece = pieces.shift();
      length -= piece.data.length;
      this.from += new TextEncoder().encode(piece.data).length; // about: unprintable bytes are shown as more
      piece.remove();
    }
  }

  scrolled() {
    this.isAtEnd = this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - 30;
  }
}

