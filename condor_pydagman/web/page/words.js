// Numbers, times and durations in words, as the report of condor_pydagman has them.

/** @typedef {[string, number][]} Sizes what a unit is called, and how much it is */

/** @type {Sizes} */
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
/** @type {Sizes} */
const RATES = [["s", 1], ["min", 60]];
/** @type {Sizes} */
const BYTES = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
const counted = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
/** @type {Intl.DateTimeFormatOptions} */
const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

/** `3 h 12 min`, `47 s`: the two largest units. */
export function duration(seconds) {
  const left = Math.max(Math.round(seconds), 0);
  for (let place = 0; place < UNITS.length; place += 1) {
    const [unit, size] = UNITS[place];
    if (left >= size) {
      const next = UNITS[place + 1];
      const second = next ? Math.floor((left % size) / next[1]) : 0;
      return `${Math.floor(left / size)} ${unit}${second ? ` ${second} ${next[0]}` : ""}`;
    }
  }
  return "0 s";
}

/** `12,345`; `2.5` for small ones that are no integers. */
export function number(value) {
  return value >= 10 || Number.isInteger(value) ? counted.format(value) : String(Number(value.toPrecision(2)));
}

/** `1 node`, `12,345 nodes`. */
export function amount(count, word) {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Nodes in a time that gives a readable number: `410 nodes/h`. */
export function rate(perSecond) {
  for (const [unit, seconds] of RATES) {
    if (perSecond * seconds >= 10) return `${number(perSecond * seconds)} nodes/${unit}`;
  }
  return `${number(perSecond * 3600)} nodes/h`;
}

/** Local time of seconds since the epoch: `14:20:05`, with the day if that is not today. */
export function clock(seconds, now = Date.now() / 1000) {
  if (!seconds) return "";
  const when = new Date(seconds * 1000);
  const time = when.toLocaleTimeString("en-GB", TIME);
  return when.toDateString() === new Date(now * 1000).toDateString() ? time : `${day(when)} ${time}`;
}

/** A time of an axis whose steps are `step` seconds. */
export function tick(seconds, step) {
  const when = new Date(seconds * 1000);
  if (step >= 86400) return day(when);
  const time = when.toLocaleTimeString("en-GB", TIME);
  return step >= 60 ? time.slice(0, 5) : time;
}

/** `35 %`, never 100 % before all is done. */
export function percent(part, whole) {
  return `${whole ? Math.floor((100 * part) / whole) : 0} %`;
}

/** `1.5 MB` of bytes. */
export function size(bytes) {
  for (const [unit, factor] of BYTES) {
    if (bytes >= factor) return `${Number((bytes / factor).toPrecision(3))} ${unit}`;
  }
  return `${bytes} B`;
}

/** `exit code 3`, `signal 9`. */
export function result(value) {
  return value < 0 ? `signal ${-value}` : `exit code ${value}`;
}

function day(when) {
  const two = (value) => String(value).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
}
