// The list of DAGs: a table, which is searched, filtered and sorted here, as all that it shows has come with one answer.

import { dags } from "./api.js";
import { bar } from "./bar.js";
import { button, el, setText, shown } from "./dom.js";
import { chip, countsOf, DAG_STATES, isOver, lookOf, showStanding, STATES, word } from "./states.js";
import { Table } from "./table.js";
import { clock, duration, number, percent } from "./words.js";

const POLL_MS = 5000;
const NONE = "You have no DAG in the queue, and none that ended lately. Submit one with condor_pydagman run, or name one "
  + "that has ended: condor_pydagman web my.dag.";
const WITH = { "with failed nodes": "failed", "with held nodes": "held" }; // filters beside states of DAGs: states of nodes
const QUICK = [...Object.keys(WITH), "running", "idle", "held", "halted", "failed", "succeeded"];
const NARROW = matchMedia("(max-width: 600px)");
const HEIGHTS = [58, 92]; // px, of a row in a wide and in a narrow window; parts.css has the same

const LIVE = ["held", "halted", "running", "idle", "not started", "unknown"]; // states in the order of a sorted list

const byName = new Intl.Collator("en", { numeric: true });
const whenOf = (dag) => dag.ended || dag.started || 0;
const shareOf = (dag) => (dag.total ? dag.done / dag.total : 0);

/** What a person has to look at comes first, what has ended last, of that the newest first. */
function urgency({ state, counts }) {
  if (isOver(state)) return state === "succeeded" ? 9 : 8;
  if (counts.failed) return 0;
  return counts.held ? 1 : 2 + LIVE.indexOf(state);
}

const SORTS = {
  name: () => 0,
  state: (one, other) => urgency(one) - urgency(other) || (isOver(one.state) ? whenOf(other) - whenOf(one) : 0),
  done: (one, other) => shareOf(one) - shareOf(other),
  time: (one, other) => whenOf(one) - whenOf(other),
};
const names = (one, other) => byName.compare(one.file, other.file) || byName.compare(one.directory, other.directory);

const fits = (dag, filter) => (WITH[filter] ? !isOver(dag.state) && dag.counts[WITH[filter]] > 0 : dag.state === filter);

let wanted = { search: "", state: "", sort: "state", descending: false }; // who comes back finds the list as it was

function nameCell(cell) {
  const link = el("a", { class: "name dag-name clip", tabindex: -1 });
  const where = el("bdi", { class: "soft clip" });
  cell.append(link, where);
  return (dag) => {
    setText(link, shown(dag.file));
    link.href = `#/${encodeURIComponent(dag.id)}`;
    setText(where, shown(dag.directory));
    cell.title = shown(`${dag.directory}/${dag.file}`).slice(0, 2000);
  };
}

function stateCell(cell) {
  const state = el("span", { class: "dag-state" });
  const why = el("span", { class: "soft clip" });
  cell.append(state, why);
  return (dag) => {
    showStanding(state, dag.state, dag.counts);
    setText(why, dag.failed_first ? shown(`first failed: ${dag.failed_first}`) : "");
    why.title = why.textContent.slice(0, 2000);
  };
}

function doneCell(cell) {
  const progress = bar();
  const words = el("span", { class: "soft clip" });
  cell.append(progress.element, words);
  return (dag) => {
    progress.show(dag.counts, dag.total);
    const share = `${number(dag.done)} of ${number(dag.total)} nodes done, ${percent(dag.done, dag.total)}`;
    setText(words, [dag.total && share,
      dag.retries && `${number(dag.retries)} retries`, dag.ran_s && `jobs ran ${duration(dag.ran_s)}`,
      dag.wasted_s && `${duration(dag.wasted_s)} of it failed`].filter(Boolean).join(", "));
    words.title = words.textContent;
  };
}

function sharesCell(cell) {
  let known = "";
  return ({ counts }) => {
    const present = STATES.filter((state) => counts[state]);
    const key = present.map((state) => `${counts[state]} ${word(state)}`).join(", ");
    if (key === known) return;
    known = key;
    cell.title = key;
    cell.setAttribute("aria-label", key);
    cell.replaceChildren(...present.map((state) => el("span", { class: "dag-share" }, chip(state), number(counts[state]))));
  };
}

function timeCell(cell) {
  const when = el("span", { class: "clip" });
  const more = el("span", { class: "soft clip" });
  cell.append(when, more);
  return (dag) => {
    const left = dag.ends_about ? dag.ends_about - Date.now() / 1000 : 0;
    const job = dag.cluster ? `job ${dag.cluster}` : "";
    setText(when, dag.ended ? `ended ${clock(dag.ended)}` : dag.started ? `since ${clock(dag.started)}` : "");
    const took = dag.ended && dag.took_s ? `took ${duration(dag.took_s)}` : "";
    setText(more, [left > 0 ? `about ${duration(left)} left` : took, job].filter(Boolean).join(" · "));
  };
}

const COLUMNS = [
  { name: "name", label: "DAG", sort: "name", make: nameCell },
  { name: "state", label: "State", sort: "state", make: stateCell },
  { name: "done", label: "Done", sort: "done", descends: true, make: doneCell },
  { name: "shares", label: "Nodes", make: sharesCell },
  { name: "time", label: "Time", sort: "time", descends: true, make: timeCell },
];

class DagTable extends Table {
  constructor() {
    super(null, {
      noun: "DAG",
      label: "DAGs",
      search: { label: "Search", placeholder: "Name, directory or job (press /)" },
      stateLabel: "State",
      states: [...Object.keys(WITH), ...DAG_STATES],
      word: (state) => state,
      typingMs: 0,
      rowHeight: () => HEIGHTS[Number(NARROW.matches)],
      ask: (asked) => this.choose(asked),
      columns: COLUMNS,
    });
    this.known = [];
    this.isShown = true;
    this.quick = el("div", { class: "legend", role: "group", "aria-label": "DAGs by state" });
    this.element = el("div", { class: "dags" }, this.quick, this.filters, this.frame);
  }

  /** The rows that are wanted. */
  async choose({ search, state, sort, descending, offset, limit }) {
    const texts = search.toLowerCase().split(/\s+/);
    const isFound = (dag) => texts.every((text) => dag.words.includes(text));
    const found = this.known.filter((dag) => (!state || fits(dag, state)) && isFound(dag));
    found.sort((one, other) => (descending ? -1 : 1) * SORTS[sort](one, other) || names(one, other));
    return { rows: found.slice(offset, offset + limit), matches: found.length, total: this.known.length };
  }

  /** These are the DAGs now. */
  take(found) {
    this.known = found.map((dag) => ({
      ...dag, number: dag.id, counts: countsOf(dag),
      words: `${dag.directory}/${dag.file} ${dag.cluster} ${dag.state}`.toLowerCase(),
    }));
    this.rows.refresh(...this.list.range());
    this.showQuick();
  }

  /** How many DAGs there are of each kind; a click shows only these, another one all. */
  showQuick() {
    const counts = QUICK.map((filter) => [filter, this.known.filter((dag) => fits(dag, filter)).length]);
    const shownNow = counts.filter(([filter, count]) => count || filter === this.rows.wanted.state);
    this.quick.replaceChildren(...shownNow.map(([filter, count]) => {
      const isOn = filter === this.rows.wanted.state;
      return button([chip(WITH[filter] ?? lookOf(filter, {})), el("b", {}, number(count)), ` ${filter}`],
        () => this.want({ state: isOn ? "" : filter }), { class: "legend-part", "aria-pressed": String(isOn) });
    }));
  }

  want(more) {
    super.want(more);
    wanted = { ...this.rows.wanted };
    this.showQuick();
  }

  show() {
    this.list.element.style.setProperty("--rows", String(this.rows.matches)); // its height, before rows are made for that
    this.frame.hidden = !this.known.length;
    super.show();
  }

  openRow(dag) {
    location.hash = `#/${encodeURIComponent(dag.id)}`;
  }

  isSelected() {
    return false;
  }
}

/** Show the list in `place`, until the function that is returned is called. */
export function startDagList(place, setLink) {
  const table = new DagTable();
  const note = el("p", { class: "note", role: "status", hidden: true });
  const message = el("p", { class: "soft", role: "status" }, "Looking for DAGs…");
  place.replaceChildren(el("h1", {}, "DAGs"), note, table.element, message);
  let timer = 0;
  let stopped = false;
  let failures = 0;

  const update = async () => {
    clearTimeout(timer);
    try {
      const answer = await dags();
      if (stopped) return;
      table.take(answer.dags);
      setText(note, answer.problem ? `The queue can't be seen: ${shown(answer.problem)}` : "");
      note.hidden = !answer.problem;
      setText(message, aboutEnded(answer));
      failures = 0;
      setLink({ state: "live" });
    } catch (error) {
      if (stopped) return;
      failures += 1;
      setLink({ state: error.status === 403 ? "unknown" : "away", sentence: error.message,
        retryAt: Date.now() + POLL_MS * Math.min(failures, 6) });
    }
    if (!document.hidden) timer = setTimeout(update, POLL_MS * Math.min(Math.max(failures, 1), 6));
  };
  const seen = () => !document.hidden && update();
  document.addEventListener("visibilitychange", seen);
  table.want(wanted);
  update();
  return {
    retryNow: update,
    stop() {
      stopped = true;
      table.hide();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    },
  };
}

/** Of when the schedd's history is, from which ended DAGs are. */
function aboutEnded({ dags: found, ended: { as_of: when, days, problem } }) {
  const none = found.length ? "" : `${NONE} `;
  if (problem) return `${none}DAGs that have ended can't be listed: ${shown(problem)}`;
  return none + (when ? `DAGs that ended in the last ${number(days)} days: as of ${clock(when)}.` : "");
}
