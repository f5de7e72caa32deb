// Rows of a table of nodes or groups, asked for in pages when they come into view. Only a few pages are kept.

import { ApiError } from "./api.js";

export const PAGE = 100;
const KEPT = 12; // pages

export class Rows {
  /**
   * @param ask called with what is wanted, gives rows, matches and total
   * @param changed called when there are new rows, or another number of them
   */
  constructor(ask, changed) {
    this.ask = ask;
    this.changed = changed;
    this.pages = new Map(); // in the order of their use
    this.asked = new Set();
    this.wanted = { search: "", state: "", sort: "name", descending: false };
    this.matches = 0;
    this.total = 0;
    this.error = null;
    this.isKnown = false;
    this.round = 0;
  }

  /** Other rows are wanted from now on. */
  want(wanted) {
    this.wanted = { ...this.wanted, ...wanted };
    this.round += 1;
    this.pages.clear();
    this.asked.clear();
    this.isKnown = false;
    this.load(0);
  }

  /** Ask anew for rows that are in view; until they come, the old ones stay. */
  refresh(first, last) {
    const [from, to] = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    for (const [page, rows] of this.pages) if (page < from || page > to) rows.isOld = true;
    for (let page = from; page <= to; page += 1) this.load(page);
  }

  /** The row at a place, or undefined while it is on its way. */
  at(place) {
    const page = Math.floor(place / PAGE);
    const rows = this.pages.get(page);
    if (!rows || rows.isOld) this.load(page);
    else {
      this.pages.delete(page); // and put it to the end: it was used last
      this.pages.set(page, rows);
    }
    return rows?.[place % PAGE];
  }

  async load(page) {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const round = this.round;
    try {
      const { descending, ...wanted } = this.wanted;
      const range = { offset: page * PAGE, limit: PAGE };
      const answer = await this.ask({ ...wanted, descending: descending ? "1" : "", ...range });
      if (round !== this.round) return;
      this.pages.delete(page);
      this.pages.set(page, answer.rows);
      for (const old of this.pages.keys()) {
        if (this.pages.size <= KEPT) break;
        this.pages.delete(old);
      }
      this.matches = answer.matches;
      this.total = answer.total;
      this.error = null;
      this.isKnown = true;
    } catch (error) {
      if (round !== this.round) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
    } finally {
      if (round === this.round) this.asked.delete(page);
    }
    this.changed();
  }
}
