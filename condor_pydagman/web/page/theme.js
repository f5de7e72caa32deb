// Light or dark: as the system says, or as the person has chosen. The choice is kept by the browser if it lets us.

const CHOICES = ["system", "light", "dark"];
const SHOWN = { system: "◐ System colours", light: "☀ Light", dark: "☾ Dark" };

function stored() {
  try {
    return localStorage.getItem("pydagman-theme");
  } catch {
    return null;
  }
}

function apply(button, choice) {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  const [sign, ...words] = SHOWN[choice].split(" ");
  button.textContent = sign;
  button.title = `Colours: ${words.join(" ").toLowerCase()}. Click to change.`;
  button.setAttribute("aria-label", button.title);
}

/** Let `button` switch, and show what was chosen last. */
export function startTheme(button) {
  let choice = CHOICES.includes(stored()) ? stored() : "system";
  apply(button, choice);
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    apply(button, choice);
    try {
      localStorage.setItem("pydagman-theme", choice);
    } catch {
      // It lasts until the page is closed.
    }
  });
}
