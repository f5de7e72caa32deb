// The dialog that says what a command would do, lets its options be chosen, and asks once.

import { button, calmly, el, freshId, setText, shown } from "./dom.js";

const CHECK_MS = 300; // after typing, until the server is asked what that would do

/** What has been typed, by name of option; throws an Error with a sentence if it is none. */
function valuesOf(fields) {
  const values = {};
  for (const { option, input } of fields) {
    const text = input.value?.trim() ?? "";
    if (option.kind === "flag") values[option.name] = input.checked;
    else if (!text) continue;
    else if (option.kind === "number") {
      values[option.name] = Number(text);
      const isWhole = input.validity.valid && Number.isInteger(values[option.name]);
      if (!isWhole) throw new Error(`${option.label} must be a whole number.`);
    } else if (option.kind === "vars") values[option.name] = variables(text);
    else values[option.name] = text;
  }
  return values;
}

function variables(text) {
  return Object.fromEntries(text.split("\n").filter((line) => line.trim()).map((line) => {
    const [key, ...value] = line.split("=");
    if (!value.length || !key.trim()) throw new Error(`Write variables as name=value, one per line, unlike ${shown(line)}`);
    return [key.trim(), value.join("=").trim()];
  }));
}

function field(option, value) {
  const id = freshId("option");
  const hint = option.hint ? el("small", { id: `${id}-hint`, class: "soft" }, option.hint) : null;
  const attributes = { id, name: option.name, "aria-describedby": hint ? `${id}-hint` : null };
  if (option.kind === "flag") {
    const input = el("input", { ...attributes, type: "checkbox", checked: Boolean(value) });
    return { option, input, element: el("div", { class: "flag" }, input, el("label", { for: id }, option.label)) };
  }
  const input = option.kind === "vars"
    ? el("textarea", { ...attributes, rows: 2, spellcheck: "false" })
    : el("input", { ...attributes, type: option.kind, min: option.min, step: option.step, autocomplete: "off" });
  if (value !== undefined) input.value = value;
  const element = el("div", { class: "option" }, el("label", { for: id }, option.label), input, hint);
  return { option, input, element };
}

/**
 * Show the dialog.
 *
 * @param question title, confirm, options, `leave` if "Cancel" is unclear; `first`: {answer, values} of the first dry
 *   run; `dry(values)` asks again; `refusals(answer)` gives {heading, lines}; `act(values)` does it
 * @returns {Promise<boolean>} whether it was done
 */
export function ask(question) {
  return new Promise((resolve) => new Question(question, resolve).open());
}

class Question {
  constructor(question, resolve) {
    this.question = question;
    this.resolve = resolve;
    this.isDone = false;
    this.round = 0;
    this.fields = question.options.map((option) => field(option, question.first.values[option.name]));
    const title = freshId("title");
    const effect = freshId("effect");
    this.effect = el("p", { class: "effect", id: effect, "aria-live": "polite" });
    this.heading = el("p", { class: "refused" });
    this.refused = el("ul", { class: "refused" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.confirm = el("button", { type: "submit", class: "confirm" }, question.confirm);
    this.leave = button(question.leave ?? "Cancel", () => this.dialog.close());
    this.form = el("form", { method: "dialog", novalidate: true },
      el("h2", { id: title }, question.title), this.effect, this.heading, this.refused,
      this.fields.map((one) => one.element),
      this.problem, el("div", { class: "choices" }, this.leave, this.confirm));
    this.dialog = el("dialog", { "aria-labelledby": title, "aria-describedby": effect }, this.form);
  }

  open() {
    const check = calmly(() => this.check(), CHECK_MS);
    this.form.addEventListener("input", () => {
      this.round += 1;
      check();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act();
    });
    this.dialog.addEventListener("close", () => {
      check.stop();
      this.dialog.remove();
      this.resolve(this.isDone);
    });
    document.body.append(this.dialog);
    this.show(this.question.first.answer);
    this.dialog.showModal();
    (this.question.first.answer.loses_work || !this.fields.length ? this.leave : this.fields[0].input).focus();
  }

  show(answer) {
    setText(this.effect, shown(answer.effect));
    this.effect.hidden = !answer.effect;
    this.effect.classList.toggle("loses", Boolean(answer.loses_work));
    this.confirm.classList.toggle("danger", Boolean(answer.loses_work));
    const { heading, lines } = this.question.refusals(answer);
    setText(this.heading, heading);
    this.refused.replaceChildren(...lines.map((line) => el("li", {}, line)));
    this.confirm.disabled = answer.done === 0 && (answer.refused?.length ?? 0) > 0;
  }

  values() {
    try {
      setText(this.problem, "");
      return valuesOf(this.fields);
    } catch (error) {
      setText(this.problem, error.message);
      return null;
    }
  }

  async check() {
    const values = this.values();
    if (!values || !Object.keys(values).length) return;
    const round = this.round;
    try {
      const answer = await this.question.dry(values);
      if (round === this.round) this.show(answer);
    } catch (error) {
      if (round === this.round) setText(this.problem, error.message);
    }
  }

  async act() {
    const values = this.values();
    if (!values || this.confirm.disabled) return;
    this.confirm.disabled = true;
    try {
      await this.question.act(values);
      this.isDone = true;
      this.dialog.close();
    } catch (error) {
      setText(this.problem, error.message);
      this.confirm.disabled = false;
    }
  }
}
