// What is known of the DAG that is shown, kept up to date: its overview, and one byte for the state of each node.
//
// A stream of events brings differences. If it breaks, or the server is silent, the page says so, asks again after a
// time that grows, and then reads all states anew: what has been missed does not matter. A page that nobody looks at
// closes its stream, as browsers allow only a few to one server.
//
// Events: `overview`, `states` (detail: {numbers}, or {all: true}), `sites` (detail: {groups}, or {}: all),
// `link` (detail: {state, sentence, retryAt}).

import { DagApi } from "./api.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30000;
const SILENCE_MS = 20000; // after which the server is asked whether it lives
const PATIENCE_MS = 8000;
const FIRST_PATIENCE_MS = 40000; // the server reads the DAG's files
const SLOW_WAIT_MS = 3000; // after an answer that it is not ready
const UNSEEN_MS = 20000; // a page that is hidden for so long closes its stream
const ENDED_POLL_MS = 15000; // an ended DAG may be submitted again

function bytes(base64) {
  const binary = atob(base64);
  const array = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) array[place] = binary.charCodeAt(place);
  return array;
}

export class LiveDag extends EventTarget {
  /** Nothing is asked before `start`. */
  constructor(id) {
    super();
    this.api = new DagApi(id);
    this.overview = null;
    this.version = -1;
    this.states = new Uint8Array(0);
    this.legend = [];
    this.sites = null; // of a DAG with groups: names of sites, nodes at each, number of the site of each group
    this.link = { state: "connecting" };
    this.failures = 0;
    this.stopped = false;
    this.round = 0; // answers to questions of an earlier round are dropped
    this.seen = () => this.changeVisibility();
    this.network = () => this.retryNow();
  }

  /** Word of the state of a node, or undefined. */
  stateOf(number) {
    return this.legend[this.states[number]];
  }

  start() {
    document.addEventListener("visibilitychange", this.seen);
    window.addEventListener("online", this.network);
    this.load();
  }

  stop() {
    this.stopped = true;
    document.removeEventListener("visibilitychange", this.seen);
    window.removeEventListener("online", this.network);
    this.close();
    clearTimeout(this.hiding);
  }

  /** Ask at once, if the page waits to ask again. */
  retryNow() {
    if (["away", "slow"].includes(this.link.state)) this.load();
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  setLink(state, more = {}) {
    this.link = { state, ...more };
    this.tell("link", this.link);
  }

  close() {
    this.round += 1;
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
    clearTimeout(this.watchdog);
  }

  /** Read everything, then follow. */
  async load() {
    this.close();
    const round = this.round;
    try {
      const overview = await this.api.get("", {}, this.overview ? PATIENCE_MS : FIRST_PATIENCE_MS);
      if (round !== this.round || this.stopped) return;
      const states = await this.api.get("states");
      if (round !== this.round || this.stopped) return;
      this.take(states);
      this.takeOverview(overview);
      this.failures = 0;
      this.hasEnded = false;
      this.setLink("live");
      this.follow();
    } catch (error) {
      if (round === this.round && !this.stopped) this.lose(error);
    }
  }

  take(answer) {
    this.states = bytes(answer.states);
    this.legend = answer.legend;
    this.version = answer.version;
    this.tell("states", { all: true });
  }

  takeOverview(overview) {
    const isAgain = this.hasEnded && this.overview && overview.begun !== this.overview.begun;
    this.overview = overview;
    if (isAgain) {
      this.hasEnded = false;
      this.setLink("live");
    }
    this.tell("overview");
  }

  follow() {
    const source = new EventSource(this.api.path("live", { since: this.version }));
    this.source = source;
    const on = (type, work) => source.addEventListener(type, (event) => {
      if (source !== this.source) return;
      this.watch();
      work(event.data ? JSON.parse(event.data) : {});
    });
    on("open", () => {});
    on("overview", (overview) => this.takeOverview(overview));
    on("nodes", (message) => this.change(message));
    on("sites", (message) => this.move(message));
    on("reload", () => this.load());
    on("ended", () => this.end());
    // The browser would try again by itself, but not say so, nor wait longer each time.
    source.onerror = () => {
      if (source !== this.source) return;
      if (this.hasEnded) this.rest();
      else this.lose({ status: 0, message: "the connection to the server was lost" });
    };
    this.watch();
  }

  change({ version, changes }) {
    const numbers = [];
    for (const [number, state] of changes) {
      if (number < this.states.length && this.states[number] !== state) {
        this.states[number] = state;
        numbers.push(number);
      }
    }
    this.version = version;
    if (numbers.length) this.tell("states", { numbers });
  }

  /** Groups have moved to other sites; `of` is for all groups. */
  move({ names, nodes, of, changes }) {
    if (!of && !this.sites) return;
    this.sites = { names, nodes, of: of ? Uint32Array.from(of) : this.sites.of };
    for (const [group, site] of changes ?? []) this.sites.of[group] = site;
    this.tell("sites", { groups: changes?.map(([group]) => group) });
  }

  /** The DAG has ended. The stream may stay: a DAG can be submitted again. */
  end() {
    this.hasEnded = true;
    this.setLink("ended");
  }

  /** Its stream was closed: only look now and then whether it has been submitted again. */
  rest() {
    this.close();
    this.timer = setTimeout(() => this.load(), ENDED_POLL_MS);
  }

  lose(error) {
    this.close();
    if (error.status === 403) {
      this.setLink("unknown", { sentence: error.message });
      return;
    }
    if (error.status === 404) {
      this.setLink("gone", { sentence: error.message });
      this.timer = setTimeout(() => this.load(), ENDED_POLL_MS);
      return;
    }
    if (error.status === 503) {
      this.setLink("slow", { sentence: error.message, retryAt: Date.now() + SLOW_WAIT_MS });
      this.timer = setTimeout(() => this.load(), SLOW_WAIT_MS);
      return;
    }
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.failures, LONGEST_WAIT_MS) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.setLink("away", { sentence: error.message, retryAt: Date.now() + wait });
    this.timer = setTimeout(() => this.load(), wait);
  }

  /** A connection may be dead without an error: after a long silence, ask. */
  watch() {
    clearTimeout(this.watchdog);
    const round = this.round;
    this.watchdog = setTimeout(async () => {
      try {
        const overview = await this.api.get("", {}, PATIENCE_MS);
        if (round !== this.round) return;
        this.takeOverview(overview);
        this.watch();
      } catch (error) {
        if (round === this.round) this.lose(error);
      }
    }, SILENCE_MS);
  }

  changeVisibility() {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        this.close();
        this.asleep = true;
      }, UNSEEN_MS);
    } else if (this.asleep) {
      this.asleep = false;
      this.load();
    }
  }
}
