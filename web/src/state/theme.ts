// Light, dark, or as the system has it.

import { createSignal } from "solid-js";

export type Theme = "system" | "light" | "dark";
const KEPT = "rejoin.theme";

function kept(): Theme {
  const value = localStorage.getItem(KEPT);
  return value === "light" || value === "dark" ? value : "system";
}

const [theme, setThemeSignal] = createSignal<Theme>(kept());
export { theme };

export function setTheme(value: Theme): void {
  if (value === "system") localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, value);
  setThemeSignal(value);
  applyTheme();
}

export function applyTheme(): void {
  if (theme() === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme();
}
