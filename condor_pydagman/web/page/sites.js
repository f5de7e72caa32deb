// Sites: their colours and names, and their marks in the picture: a strip along the lower edge of each box in the colours
// of the sites of its groups, as `condor_pydagman draw` has it, and a legend. A click on a site of the legend leaves only
// its boxes clear.
//
// A DAG without groups has none of it.

import { button, el, name, setText, shortened, shown, svg } from "./dom.js";
import { amount, number } from "./words.js";

const COLOURS = 8; // further sites share one colour, as in the pictures of `condor_pydagman draw`
const INSET = 8; // as that of the shares of states
const HIGH = 3;
const ABOVE = 1.6; // the lower edge
const MAX_NAMES = 8; // of sites in the words of a box

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

export class SiteMarks {
  /** @param layer what holds the boxes */
  constructor(live, layer) {
    this.live = live;
    this.layer = layer;
    this.boxes = [];
    this.parts = new Map(); // of the legend, by class of colour
    this.chosen = "";
    this.element = el("div", { class: "site-legend", role: "group", "aria-label": "Sites", hidden: true });
  }

  /** Whether some boxes have several nodes: only the server knows their sites. */
  get hasFolded() {
    return this.boxes.some(({ box }) => box.sites);
  }

  /** Other boxes are drawn from now on. */
  begin(boxes) {
    this.boxes = boxes.filter((one) => !one.isDot && (one.box.sites || typeof one.box.site_group === "number"));
    this.update();
  }

  /** Groups have moved, or boxes have been told anew. */
  update() {
    for (const one of this.boxes) this.mark(one);
    this.showLegend();
  }

  /** `[[number of the site, how many nodes]]` of a box. */
  sharesOf({ sites, site_group: group, count }) {
    const known = this.live.sites;
    if (!known) return [];
    if (sites) return sites.filter(([site]) => site <= known.names.length);
    const site = known.of[group];
    return site ? [[site, count]] : [];
  }

  mark(one) {
    const shares = this.sharesOf(one.box);
    const key = JSON.stringify([shares, one.box.count, shares.map(([site]) => this.live.sites.names[site - 1])]);
    if (one.siteKey !== key) {
      one.siteKey = key;
      this.draw(one, shares);
      one.setWhere(this.words(one, shares));
    }
    const isThere = shares.some(([site]) => siteClass(site) === this.chosen);
    one.element.classList.toggle("at-site", isThere);
  }

  draw(one, shares) {
    const { w, h, count } = one.box;
    const room = (one.isFolded ? w - 8 : w) - 2 * INSET; // without the sheets of a stack
    let x = INSET;
    one.strip?.remove();
    const piece = (className, nodes) => {
      const width = (room * nodes) / Math.max(count, 1);
      x += width;
      const place = { x: (x - width).toFixed(2), y: h - HIGH - ABOVE, width: width.toFixed(2), height: HIGH };
      return svg("rect", { class: className, ...place });
    };
    const without = (one.box.grouped ?? 0) - shares.reduce((sum, [, nodes]) => sum + nodes, 0);
    one.strip = svg("g", { class: "strip" }, shares.map(([site, nodes]) => piece(siteClass(site), nodes)),
      without > 0 ? piece("unplaced", without) : null);
    one.element.append(one.strip);
  }

  words(one, shares) {
    const { names } = this.live.sites ?? {};
    const told = shares.slice(0, MAX_NAMES).map(([site, nodes]) => {
      const words = `at ${shortened(shown(names[site - 1]), 60)}`;
      return one.isFolded ? `${number(nodes)} ${words}` : words;
    });
    const more = shares.length - told.length;
    return [...told, ...(more > 0 ? [`and ${amount(more, "more site")}`] : [])].join(", ");
  }

  showLegend() {
    const { names = [], nodes = [] } = this.live.sites ?? {};
    const found = new Map(); // nodes and names by class, as further sites share one
    names.forEach((site, place) => {
      const [count, all] = found.get(siteClass(place + 1)) ?? [0, []];
      if (nodes[place]) found.set(siteClass(place + 1), [count + nodes[place], [...all, site]]);
    });
    for (const [key, part] of this.parts) {
      if (found.has(key)) continue;
      part.element.remove();
      this.parts.delete(key);
    }
    for (const [key, [count, all]] of found) this.showPart(key, count, all);
    this.element.hidden = !found.size;
    if (this.chosen && !found.has(this.chosen)) this.choose("");
  }

  showPart(key, count, sites) {
    if (!this.parts.has(key)) {
      const words = { count: el("b"), name: name("") };
      const element = button([swatch(key), words.count, el("span", {}, "at"), words.name], () => this.choose(key),
        { class: "site-part", "aria-pressed": "false" });
      this.parts.set(key, { element, ...words });
      // In the order of the sites, whichever of them came first.
      this.element.append(...[...this.parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part.element));
    }
    const part = this.parts.get(key);
    const others = key === "site-more" && sites.length > 1;
    setText(part.count, number(count));
    setText(part.name, others ? "other sites" : shortened(shown(sites[0]), 60));
    const all = shortened(shown(sites.join(", ")), 400);
    part.element.title = `${amount(count, "node")} at ${all}; click to highlight them`;
  }

  /** Leave only the boxes of one colour clear; of the same again, all. */
  choose(key) {
    this.chosen = this.chosen === key ? "" : key;
    for (const [own, part] of this.parts) part.element.setAttribute("aria-pressed", String(own === this.chosen));
    this.layer.classList.toggle("one-site", Boolean(this.chosen));
    for (const one of this.boxes) this.mark(one);
  }
}
