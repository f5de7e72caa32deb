// Rows of which only those in view exist. Their number may be larger than the height that browsers allow: then the
// scroll bar stands for a share of them.

import { el } from "./dom.js";

const ROW = 34; // px; parts.css has the same
const MOST_HEIGHT = 8e6; // px
const AROUND = 6; // rows above and below the view

export class VirtualList {
  /**
   * @param work `make()` gives a row with an element, `fill(row, place)` shows one; `open(row)`, `tick(row)` do so;
   *   `rowHeight()`, if it is not the usual one
   */
  constructor(work) {
    this.work = work;
    this.count = 0;
    this.pool = [];
    this.active = 0;
    this.body = el("div", { role: "rowgroup", class: "rows" });
    this.element = el("div", { role: "grid", class: "grid", tabindex: -1, "aria-label": work.label }, this.body);
    this.element.addEventListener("scroll", () => this.ask());
    new ResizeObserver(() => this.setCount(this.count)).observe(this.element);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("focusin", (event) => (this.active = this.rowOf(event.target)?.place ?? this.active));
  }

  ask() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  setCount(count) {
    this.count = count;
    this.active = Math.min(this.active, Math.max(count - 1, 0));
    this.element.setAttribute("aria-rowcount", count + 1);
    this.body.style.height = `${Math.min(count * this.high, MOST_HEIGHT)}px`;
    this.draw();
  }

  refill() {
    this.draw();
  }

  toTop() {
    this.element.scrollTop = 0;
    this.active = 0;
  }

  /** Height of a row. */
  get high() {
    return this.work.rowHeight?.() ?? ROW;
  }

  get isSqueezed() {
    return this.count * this.high > MOST_HEIGHT;
  }

  /** Height of the view without the table's head. */
  get viewHeight() {
    return Math.max(this.element.clientHeight - this.body.offsetTop, this.high);
  }

  /** First row of the view, with a fraction. */
  get first() {
    if (!this.isSqueezed) return this.element.scrollTop / this.high;
    const share = this.element.scrollTop / Math.max(MOST_HEIGHT - this.viewHeight, 1);
    return share * (this.count - this.viewHeight / this.high);
  }

  /** Places of the first and the last row in view. */
  range() {
    const first = Math.max(Math.floor(this.first), 0);
    return [first, Math.max(Math.min(Math.ceil(first + this.viewHeight / this.high), this.count - 1), first)];
  }

  /** Rows that exist. */
  rows() {
    return this.pool.filter((row) => !row.element.hidden);
  }

  draw() {
    if (!this.element.clientHeight) return;
    const first = Math.max(Math.floor(this.first) - AROUND, 0);
    const wanted = Math.min(Math.ceil(this.viewHeight / this.high) + 2 * AROUND, Math.max(this.count - first, 0));
    while (this.pool.length < wanted) {
      const row = this.work.make();
      this.pool.push(row);
      this.body.append(row.element);
    }
    // Squeezed, a row's place in the view counts, not its place in all.
    const top = this.isSqueezed ? this.element.scrollTop - this.first * this.high : 0;
    const hadFocus = this.body.contains(document.activeElement);
    for (let place = first; place < first + wanted; place += 1) {
      const row = this.pool[place % this.pool.length];
      row.place = place;
      row.element.hidden = false;
      row.element.style.transform = `translateY(${top + place * this.high}px)`;
      row.element.classList.toggle("odd", place % 2 === 1);
      row.element.setAttribute("tabindex", place === this.active ? "0" : "-1");
      this.work.fill(row, place);
    }
    for (let place = first + wanted; place < first + this.pool.length; place += 1) {
      this.pool[place % this.pool.length].element.hidden = true;
    }
    this.element.tabIndex = this.activeRow() ? -1 : 0;
    if (hadFocus) this.keepFocus();
  }

  /** Elements of rows are used again for others: the focus stays with its row, or goes to the whole. */
  keepFocus() {
    const row = this.activeRow();
    if (row?.element.contains(document.activeElement)) return;
    (row?.element ?? this.element).focus({ preventScroll: true });
  }

  activeRow() {
    return this.pool.find((row) => row.place === this.active && !row.element.hidden);
  }

  rowOf(target) {
    return this.pool.find((row) => row.element.contains(target));
  }

  click(event) {
    const row = this.rowOf(event.target);
    if (!row || event.target.matches("input")) return;
    this.active = row.place;
    if (event.target.closest(".c-tick")) this.work.tick(row);
    else this.work.open(row);
  }

  key(event) {
    const row = this.rowOf(event.target);
    const isOurs = (row || event.target === this.element) && this.count > 0;
    if (!isOurs || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(this.viewHeight / this.high) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.goTo((row?.place ?? this.active) + steps[event.key]);
    else if (!row) return;
    else if (event.key === " ") this.work.tick(row);
    else if (event.key === "Enter") this.work.open(row);
    else return;
    event.preventDefault();
  }

  goTo(place) {
    this.active = Math.min(Math.max(place, 0), this.count - 1);
    const visible = this.viewHeight / this.high;
    let first = this.first;
    if (this.active < first) first = this.active;
    else if (this.active + 1 > first + visible) first = this.active + 1 - visible;
    if (first !== this.first) {
      const squeezed = ((MOST_HEIGHT - this.viewHeight) * first) / Math.max(this.count - visible, 1);
      this.element.scrollTop = this.isSqueezed ? squeezed : first * this.high;
    }
    this.draw();
    this.activeRow()?.element.focus({ preventScroll: true });
  }
}
