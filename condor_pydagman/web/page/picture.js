// The picture of a DAG: boxes and edges as the server has laid them out, in the colours of their states, which change
// as they happen. A box of many nodes shows their shares; a click unfolds it.

import { button, calmly, el, name, shortened, shown, svg } from "./dom.js";
import { PictureBox } from "./picture_box.js";
import { Camera } from "./camera.js";
import { notice } from "./notices.js";
import { SiteMarks } from "./sites.js";

const FRESH_MS = 2000; // between two questions for the shares of folded boxes
const SLOW = 10; // times as long as the last one took, at least
const MANY_EDGES = 3000; // of more, arrowheads would take too long to draw
const MARGIN = 24;
const LABEL = "Picture of the DAG. Arrow keys go from box to box, Enter opens one, Shift and arrow keys move the picture, "
  + "plus and minus zoom, 0 shows all.";

/** @param chooseNode called with the number of a node that was clicked */
export class Picture {
  constructor(live, chooseNode) {
    this.live = live;
    this.chooseNode = chooseNode;
    this.groups = []; // groups that are unfolded
    this.labels = new Map(); // of groups that were unfolded: what stood on their boxes
    this.boxes = new Map();
    this.byNode = new Map();
    this.edges = svg("g", { class: "edges" });
    this.layer = svg("g", { class: "boxes", role: "list", "aria-label": "Boxes of the DAG" });
    this.drawing = svg("g", {}, this.edges, this.layer);
    this.svg = svg("svg", { class: "drawing", tabindex: 0, role: "group", "aria-label": LABEL }, arrowHead(), this.drawing);
    this.camera = new Camera(this.svg, this.drawing);
    this.sites = new SiteMarks(live, this.layer);
    this.unfolded = el("div", { class: "unfolded", role: "group", "aria-label": "Unfolded groups" });
    this.marks = el("ul", { class: "marks", "aria-label": "Shapes and lines", hidden: true });
    this.message = el("p", { class: "soft picture-message", role: "status" });
    this.element = el("div", { class: "picture" }, this.tools(), this.sites.element,
      this.marks, el("div", { class: "frame" }, this.svg, this.message));
    this.ask = calmly(() => this.load(), FRESH_MS);
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("click", (event) => this.click(event));
    this.svg.addEventListener("focusin", (event) => this.focused(event));
  }

  tools() {
    const tool = (sign, label, work) => button(sign, work, { class: "tool", "aria-label": label, title: label });
    return el("div", { class: "picture-tools" }, this.unfolded,
      el("span", { class: "soft hint" }, "Click a stack to unfold it, a node for details; drag to move, scroll to zoom"),
      tool("−", "Zoom out (-)", () => this.camera.zoom(1 / 1.3)), tool("+", "Zoom in (+)", () => this.camera.zoom(1.3)),
      tool("⤢", "Show all (0)", () => this.camera.fit(true)));
  }

  /** It is seen from now on. */
  open() {
    this.isShown = true;
    if (!this.answer || this.isStale) this.load();
  }

  hide() {
    this.isShown = false;
  }

  /** States have changed: of the nodes `numbers`, or all. */
  update({ numbers, all }) {
    let hidden = Boolean(all);
    for (const number of all ? this.byNode.keys() : numbers) {
      const box = this.byNode.get(number);
      if (box) box.setState(this.live.stateOf(number), !all);
      else hidden = true;
    }
    if (!hidden || !this.answer) return;
    this.isStale = true;
    if (this.isShown) this.ask();
  }

  /** Groups have moved to other sites. */
  updateSites() {
    this.sites.update();
    if (!this.sites.hasFolded) return;
    this.isStale = true;
    if (this.isShown) this.ask();
  }

  async load(opened = null) {
    if (this.isLoading) {
      this.again = { opened: opened ?? this.again?.opened ?? null };
      return;
    }
    this.isLoading = true;
    this.isStale = false;
    const begun = performance.now();
    if (!this.answer) this.message.textContent = "Drawing…";
    try {
      const answer = await this.live.api.get("picture", { open: this.groups.join(",") });
      this.take(answer, opened);
      if (answer.shut?.includes(opened)) {
        this.fold([opened]);
        notice("There are too many boxes to unfold this one too. Fold another one first.");
      }
      this.message.textContent = answer.boxes.length ? "" : "The DAG has no nodes.";
    } catch (error) {
      if (!this.answer) this.message.textContent = `The picture can't be shown: ${shown(error.message)}`;
      else if (opened) notice(`Unfolding: ${shown(error.message)}`, { bad: true });
      this.isStale = true;
    }
    const rest = SLOW * (performance.now() - begun);
    setTimeout(() => {
      this.isLoading = false;
      const next = this.again ?? (this.isStale && this.isShown && this.answer ? {} : null);
      this.again = null;
      if (next) this.load(next.opened);
    }, this.again?.opened ? 0 : Math.min(rest, 30000));
  }

  take(answer, opened) {
    const places = answer.boxes.map((box) => [box.id, box.label, box.x, box.y, box.w, box.h]);
    const shape = JSON.stringify([places, answer.edges.length]);
    const isNew = shape !== this.shape;
    const isFirst = !this.answer;
    this.answer = answer;
    this.shape = shape;
    if (isNew) this.draw(answer, opened, isFirst);
    else for (const box of answer.boxes) this.boxes.get(box.id)?.take(box);
    this.sites.begin([...this.boxes.values()]);
    for (const [number, box] of this.byNode) {
      const state = this.live.stateOf(number);
      if (state) box.setState(state, false);
    }
    this.showUnfolded();
  }

  draw(answer, opened, isFirst) {
    const before = this.boxes;
    const focused = this.current?.box.id;
    this.boxes = new Map(answer.boxes.map((box) => [box.id, new PictureBox(box)]));
    this.byNode = new Map();
    for (const box of this.boxes.values()) if (typeof box.box.node === "number") this.byNode.set(box.box.node, box);
    this.layer.replaceChildren(...[...this.boxes.values()].map((box) => box.element));
    for (const box of this.boxes.values()) box.fitLabel();
    const end = answer.edges.length <= MANY_EDGES ? "url(#arrow)" : null;
    const line = ({ path, look }) => svg("path", { class: `edge ${look}`, d: path, "marker-end": end });
    this.edges.replaceChildren(...answer.edges.map(line));
    this.marks.replaceChildren(...answer.legend.map(mark));
    this.marks.hidden = !answer.legend.length;
    this.camera.setContent(answer.width, answer.height, MARGIN);
    this.mark(this.selected);
    this.setCurrent(this.boxes.get(focused) ?? this.boxes.values().next().value);
    const fresh = [...this.boxes.values()].filter((box) => !before.has(box.box.id));
    if (isFirst || !fresh.length || fresh.length === this.boxes.size) this.camera.fit();
    else if (opened) {
      this.camera.showBoxes(fresh.map((box) => box.box));
      this.setCurrent(fresh[0]);
      if (this.hadFocus) fresh[0].element.focus({ preventScroll: true });
    }
  }

  showUnfolded() {
    const folds = this.groups.map((group) => button([name(shortened(shown(this.labels.get(group) ?? group), 30)), " ×"],
      () => this.fold([group]), { class: "chip-button", title: "Fold this again" }));
    if (folds.length > 1) folds.push(button("Fold all", () => this.fold(this.groups), { class: "chip-button" }));
    this.unfolded.replaceChildren(...folds);
  }

  fold(groups) {
    this.groups = this.groups.filter((group) => !groups.includes(group));
    this.showUnfolded();
    this.load("fold");
  }

  /** Mark the box of a node, if it has one. */
  mark(number) {
    this.selected = number;
    this.layer.querySelector(".selected")?.classList.remove("selected");
    this.byNode.get(number)?.element.classList.add("selected");
  }

  boxOf(target) {
    return this.boxes.get(target.closest?.("[data-box]")?.dataset.box);
  }

  click(event) {
    if (this.camera.hasDragged) return;
    const box = this.boxOf(event.target);
    if (box) this.activate(box);
  }

  activate(box) {
    const { node, group, label } = box.box;
    this.setCurrent(box);
    if (typeof node === "number") this.chooseNode(node);
    else if (group && !this.groups.includes(group)) {
      this.labels.set(group, label);
      this.hadFocus = this.layer.contains(document.activeElement);
      this.groups = [...this.groups, group];
      box.element.classList.add("opening");
      this.load(group);
    }
  }

  setCurrent(box) {
    this.current?.element.setAttribute("tabindex", "-1");
    this.current = box;
    box?.element.setAttribute("tabindex", "0");
  }

  focused(event) {
    const box = this.boxOf(event.target);
    if (!box) return;
    this.setCurrent(box);
    if (event.target.matches(":focus-visible")) this.camera.reveal(box.box);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };
    const box = this.boxOf(event.target);
    if (zooms[event.key]) this.camera.zoom(zooms[event.key]);
    else if (event.key === "0") this.camera.fit(true);
    else if (directions[event.key] && event.shiftKey) this.camera.pan(...directions[event.key]);
    else if (directions[event.key]) this.step(box, directions[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && box) this.activate(box);
    else return;
    event.preventDefault();
  }

  /** Focus goes to the nearest box in a direction; from the picture itself, to the current box. */
  step(from, [dx, dy]) {
    const next = from ? nearest([...this.boxes.values()], from.box, dx, dy) : this.current;
    next?.element.focus({ preventScroll: true });
    if (next) this.camera.reveal(next.box);
  }
}

function arrowHead() {
  const place = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8 };
  return svg("defs", {}, svg("marker", { id: "arrow", ...place, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { class: "arrow", d: "M0 .8L8 4L0 7.2Z" })));
}

/** An entry of the legend: the shape of a kind of node, or the dashes of a kind of edge. */
function mark({ words, outline, look }) {
  const signs = {
    shape: () => svg("path", { class: "kind", d: outline, transform: "translate(1 1)" }),
    strip: () => svg("rect", { class: look, x: 1, y: 5, width: 24, height: 4 }),
    line: () => svg("path", { class: `edge ${look}`, d: "M0 7H26" }),
  };
  const sign = signs[outline ? "shape" : look === "unplaced" ? "strip" : "line"]();
  const size = outline ? { width: 20, height: 14 } : { width: 26, height: 14 };
  return el("li", { class: look ? `of-${look}` : null }, svg("svg", { ...size, "aria-hidden": "true" }, sign), words);
}

function nearest(boxes, from, dx, dy) {
  const middle = (box) => [box.x + box.w / 2, box.y + box.h / 2];
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const candidate of boxes) {
    const [cx, cy] = middle(candidate.box);
    const along = (cx - x) * dx + (cy - y) * dy;
    const across = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
    const cost = along + 2.5 * across;
    if (along > 1 && cost < least) [best, least] = [candidate, cost];
  }
  return best;
}
