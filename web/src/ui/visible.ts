// Names and titles come from agents and files: what would not be seen, or turn text around, is written out.

// Joiners stay: letters and emoji are made with them.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
