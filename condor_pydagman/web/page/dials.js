// Throttles and the priority of a DAG: numbers to change, applied together.

import { el, freshId, setText, shown } from "./dom.js";
import { failure, notice } from "./notices.js";

const DIALS = [
  { name: "jobs", label: "Jobs", tells: "maximum number of nodes with jobs in the queue; 0 means no limit", min: 0 },
  { name: "idle", label: "Idle jobs", tells: "no job is submitted while this many are idle; 0 means no limit", min: 0 },
  { name: "pre", label: "PRE scripts", tells: "maximum number of PRE scripts at a time; 0 means no limit", min: 0 },
  { name: "post", label: "POST scripts", tells: "maximum number of POST scripts at a time; 0 means no limit", min: 0 },
  { name: "priority", label: "Priority", tells: "of the DAG's jobs; higher runs first" },
];
const MOST = 2147483647;

/** The dials of a DAG; `show(controls)` gives them what the server says, but for those that are being changed. */
export function dials(live) {
  const fields = DIALS.map((dial) => {
    const id = freshId("dial");
    const input = el("input", {
      type: "number", id, name: dial.name, min: dial.min ?? -MOST, max: MOST, step: 1, autocomplete: "off",
      title: dial.tells, "aria-describedby": `${id}-tells`,
    });
    const element = el("div", { class: "dial" }, el("label", { for: id, title: dial.tells }, dial.label), input,
      el("span", { class: "unseen", id: `${id}-tells` }, dial.tells));
    return { dial, input, element, known: null };
  });
  const apply = el("button", { type: "submit", disabled: true }, "Apply");
  const problem = el("span", { class: "problem", role: "alert" });
  const form = el("form", { class: "dials", novalidate: true, "aria-label": "Limits and priority" },
    el("span", { class: "dials-title" }, "Limits"), fields.map((field) => field.element), apply, problem);
  let can = false;

  const changed = () => fields.filter(({ input, known }) => input.value.trim() !== String(known ?? ""));
  const look = () => {
    const dirty = changed();
    const wrong = dirty.find(({ input }) => !input.validity.valid || !/^-?\d+$/.test(input.value.trim()));
    for (const { input } of fields) input.classList.toggle("changed", dirty.some((field) => field.input === input));
    for (const { input } of fields) input.setAttribute("aria-invalid", String(input === wrong?.input));
    setText(problem, wrong ? `${wrong.dial.label} must be a whole number${wrong.dial.min === 0 ? ", 0 or more" : ""}.` : "");
    apply.disabled = !can || !dirty.length || Boolean(wrong);
  };
  form.addEventListener("input", look);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const { input, known } of fields) input.value = known ?? "";
    look();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    look();
    if (apply.disabled) return;
    apply.disabled = true;
    await send(live, changed());
    look();
  });
  return {
    element: form,
    show(controls) {
      can = controls.can;
      for (const field of fields) {
        const { dial, input } = field;
        const value = controls.limits?.[dial.name] ?? null;
        if (input.value.trim() === String(field.known ?? "")) input.value = value ?? "";
        field.known = value;
        input.disabled = !can;
      }
      look();
    },
  };
}

async function send(live, changed) {
  const values = Object.fromEntries(changed.map(({ dial, input }) => [dial.name, Number(input.value)]));
  const { priority, ...limits } = values;
  const commands = [];
  if (Object.keys(limits).length) commands.push({ command: "limits", options: limits });
  if (priority !== undefined) commands.push({ command: "priority", options: { value: priority } });
  for (const command of commands) {
    try {
      const answer = await live.api.command({ ...command, seen: live.version, dry: false });
      notice(shown(answer.effect) || "Applied.");
      for (const field of changed) {
        if (field.dial.name in command.options || command.command === "priority" && field.dial.name === "priority") {
          field.known = Number(field.input.value);
        }
      }
    } catch (error) {
      failure("Limits", error);
    }
  }
}
