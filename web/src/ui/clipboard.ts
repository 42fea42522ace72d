// Copying: where the browser has no clipboard for this page (http on a network), the old way.

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr-only";
    document.body.append(area);
    const before = document.activeElement;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}
