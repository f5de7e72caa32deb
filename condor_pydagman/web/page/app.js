// The start: which page the address asks for, and what is known of the way to the server.
//
// Addresses: `#/` is the list, `#/ID` a DAG, `#/ID/VIEW` one of its views, `#/ID/VIEW/NUMBER` with a node beside.

import { startDagList } from "./dag_list.js";
import { DagPage } from "./dag_page.js";
import { el, setText, shown } from "./dom.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const linkState = document.getElementById("link-state");
const path = document.getElementById("path");

let page = null;
let shownId = null;
let link = { state: "connecting" };
let counting = 0;

const TRIES_AGAIN = ["away", "slow"]; // states of the link
const LINK_WORDS = {
  live: "live", connecting: "connecting…", ended: "ended", away: "not connected", unknown: "not connected", gone: "gone",
  slow: "waiting…",
};

// Light or dark: as the system says, or as the person has chosen. The choice is kept by the browser if it lets us.
const THEMES = { system: "◐ System colours", light: "☀ Light", dark: "☾ Dark" };

function setLink(next) {
  link = next;
  setText(linkState, LINK_WORDS[link.state] ?? "");
  linkState.dataset.state = link.state;
  showBanner();
}

/** What is wrong with the way to the server, and when it is tried again. */
function showBanner() {
  clearTimeout(counting);
  const isWrong = [...TRIES_AGAIN, "unknown", "gone"].includes(link.state);
  document.body.classList.toggle("stale", isWrong);
  if (!isWrong) {
    banner.hidden = true;
    banner.replaceChildren();
    return;
  }
  if (banner.hidden || banner.dataset.sentence !== `${link.state} ${link.sentence}`) {
    banner.dataset.sentence = `${link.state} ${link.sentence}`;
    banner.replaceChildren(el("span", {}, bannerWords()), el("span", { class: "countdown", "aria-hidden": "true" }),
      TRIES_AGAIN.includes(link.state) ? el("button", { type: "button", onclick: () => page?.retryNow() }, "Try now") : "");
    banner.hidden = false;
  }
  countDown();
}

function bannerWords() {
  const sentence = shown(link.sentence);
  if (link.state === "slow") return `The server is not ready: ${sentence}.`;
  if (link.state === "unknown") return `${sentence}.`.replace(/\.\.$/, ".");
  if (link.state === "gone") return `This DAG is no longer available: ${sentence}`;
  return `Not connected: ${sentence}. What you see may be out of date. Perhaps \`condor_pydagman web\` has ended, or the `
    + "network is down.";
}

function countDown() {
  if (!TRIES_AGAIN.includes(link.state)) return;
  const left = Math.max(Math.ceil((link.retryAt - Date.now()) / 1000), 0);
  setText(banner.querySelector(".countdown"), left ? `Next try in ${left} s.` : "Trying…");
  counting = setTimeout(countDown, 500);
}

function go(view, node) {
  location.hash = `#/${encodeURIComponent(shownId)}/${view}${typeof node === "number" ? `/${node}` : ""}`;
}

function route() {
  const [id = "", view = "", node = ""] = location.hash.replace(/^#\//, "").split("/");
  let name = "";
  try {
    name = decodeURIComponent(id);
  } catch {
    // An address that somebody has typed: the list is shown.
  }
  if (page === null || name !== shownId) {
    page?.stop();
    shownId = name;
    setLink({ state: "connecting" });
    setText(path, "");
    document.title = "DAGs";
    const work = { setLink, go, setPath: (file) => setText(path, file) };
    page = name ? new DagPage(name, main, work) : startDagList(main, setLink);
  }
  if (name) page.show(view, /^\d{1,9}$/.test(node) ? Number(node) : null);
}

function storedTheme() {
  try {
    return localStorage.getItem("pydagman-theme");
  } catch {
    return null;
  }
}

function applyTheme(button, choice) {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  const [sign, ...words] = THEMES[choice].split(" ");
  button.textContent = sign;
  button.title = `Colours: ${words.join(" ").toLowerCase()}. Click to change.`;
  button.setAttribute("aria-label", button.title);
}

/** Let `button` switch, and show what was chosen last. */
function startTheme(button) {
  const choices = Object.keys(THEMES);
  let choice = choices.includes(storedTheme()) ? storedTheme() : "system";
  applyTheme(button, choice);
  button.addEventListener("click", () => {
    choice = choices[(choices.indexOf(choice) + 1) % choices.length];
    applyTheme(button, choice);
    try {
      localStorage.setItem("pydagman-theme", choice);
    } catch {
      // It lasts until the page is closed.
    }
  });
}

startTheme(document.getElementById("theme"));
window.addEventListener("hashchange", route);
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const isShortcut = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isShortcut || target.closest("input, textarea, select, dialog")) return;
  const search = [...main.querySelectorAll("input[type=search]")].find((one) => one.checkVisibility());
  if (!(search instanceof HTMLInputElement)) return;
  event.preventDefault();
  search.focus();
  search.select();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is for pages
  main.focus();
});
route();
