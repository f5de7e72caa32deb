// What part of a drawing is seen: zoom and pan by wheel, mouse, two fingers and keys.

const LEAST = 0.02;
const MOST = 4;
const FIRST_LEAST = 0.62; // a large drawing begins at its top in a size that can be read
const FIRST_MOST = 1.25;
const STEP = 80; // px of a key
const FAR = 0.42; // below, words are too small to read and are left out
const CLICK = 4; // px; who moves less has clicked
const MS = 250;

export class Camera {
  constructor(svg, drawing) {
    this.svg = svg;
    this.drawing = drawing;
    this.x = this.y = 0; // where the drawing's origin is, px
    this.scale = 1;
    this.width = this.height = 1;
    this.margin = 0;
    this.pointers = new Map();
    this.hasDragged = false;
    this.isFitted = true;
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
      svg.addEventListener(type, (event) => this.pointers.delete(event.pointerId));
    }
    new ResizeObserver(() => this.isFitted && this.fit()).observe(svg);
  }

  get size() {
    return [this.svg.clientWidth || 1, this.svg.clientHeight || 1];
  }

  setContent(width, height, margin) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.margin = margin;
  }

  apply() {
    const place = `${this.x.toFixed(1)} ${this.y.toFixed(1)}`;
    this.drawing.setAttribute("transform", `translate(${place}) scale(${this.scale.toFixed(4)})`);
    this.svg.classList.toggle("far", this.scale < FAR);
  }

  /** Show all of it; at first, of a large drawing only the top. */
  fit(all = false) {
    const [wide, high] = this.size;
    const whole = Math.min((wide - 2 * this.margin) / this.width, (high - 2 * this.margin) / this.height, FIRST_MOST);
    const scale = Math.max(all ? whole : Math.max(whole, FIRST_LEAST), LEAST);
    const y = Math.max((high - this.height * scale) / 2, this.margin);
    this.glide((wide - this.width * scale) / 2, y, scale, all);
    this.isFitted = true;
  }

  /** Bring some boxes into view, as large as can be read. */
  showBoxes(boxes) {
    const [wide, high] = this.size;
    const left = Math.min(...boxes.map((box) => box.x));
    const right = Math.max(...boxes.map((box) => box.x + box.w));
    const top = Math.min(...boxes.map((box) => box.y));
    const bottom = Math.max(...boxes.map((box) => box.y + box.h));
    const whole = Math.min(wide / (right - left + 120), high / (bottom - top + 160));
    const scale = Math.min(Math.max(whole, FIRST_LEAST), FIRST_MOST);
    const x = wide / 2 - (scale * (left + right)) / 2;
    const y = Math.max(high / 2 - (scale * (top + bottom)) / 2, this.margin - scale * Math.max(top - 60, 0));
    this.glide(x, y, scale, true);
    this.isFitted = false;
  }

  /** Move as little as it takes to have a box in view. */
  reveal(box) {
    const [wide, high] = this.size;
    const room = 20;
    const into = (low, length, place, size) => {
      if (place + low * this.scale < room) return room - low * this.scale;
      if (place + (low + length) * this.scale > size - room) return size - room - (low + length) * this.scale;
      return place;
    };
    this.glide(into(box.x, box.w, this.x, wide), into(box.y, box.h, this.y, high), this.scale, true);
    this.isFitted = false;
  }

  zoom(factor, at = this.size.map((length) => length / 2)) {
    const scale = Math.min(Math.max(this.scale * factor, LEAST), MOST);
    const [px, py] = at;
    this.stopGliding();
    this.x = px - ((px - this.x) * scale) / this.scale;
    this.y = py - ((py - this.y) * scale) / this.scale;
    this.scale = scale;
    this.isFitted = false;
    this.apply();
  }

  pan(dx, dy) {
    this.stopGliding();
    this.moveBy(-dx * STEP, -dy * STEP);
  }

  /** Some of the drawing stays in view. */
  moveBy(dx, dy) {
    const [wide, high] = this.size;
    const within = (value, size, length) => Math.min(Math.max(value, 60 - length * this.scale), size - 60);
    this.x = within(this.x + dx, wide, this.width);
    this.y = within(this.y + dy, high, this.height);
    this.isFitted = false;
    this.apply();
  }

  glide(x, y, scale, smoothly) {
    this.stopGliding();
    const calm = !smoothly || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const from = { x: this.x, y: this.y, scale: this.scale };
    const begun = performance.now();
    const step = (now) => {
      const share = calm ? 1 : Math.min((now - begun) / MS, 1);
      const eased = 1 - (1 - share) ** 3;
      this.x = from.x + (x - from.x) * eased;
      this.y = from.y + (y - from.y) * eased;
      this.scale = from.scale + (scale - from.scale) * eased;
      this.apply();
      this.frame = share < 1 ? requestAnimationFrame(step) : 0;
    };
    step(begun);
  }

  stopGliding() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  place(event) {
    const frame = this.svg.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * 0.0016), this.place(event));
  }

  down(event) {
    if (event.button !== 0) return;
    if (!this.pointers.size) this.hasDragged = false;
    this.pointers.set(event.pointerId, this.place(event));
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const [x, y] = this.place(event);
    if (!this.hasDragged && Math.hypot(x - before[0], y - before[1]) < CLICK) return;
    if (!this.hasDragged) this.svg.setPointerCapture(event.pointerId);
    this.hasDragged = true;
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.stopGliding();
    if (others.length === 1) {
      const [other] = others;
      const distance = (place) => Math.max(Math.hypot(place[0] - other[0], place[1] - other[1]), 1);
      this.zoom(distance([x, y]) / distance(before), [(x + other[0]) / 2, (y + other[1]) / 2]);
    } else this.moveBy(x - before[0], y - before[1]);
    this.pointers.set(event.pointerId, [x, y]);
  }
}
