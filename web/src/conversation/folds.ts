// What was unfolded stays so when it is scrolled away and back: turns that are far from the eye are not drawn, and what
// only their elements knew would be gone.

/** So many are remembered, of all conversations; the one that was unfolded longest ago goes first. */
const MOST = 1000;

const unfolded = new Set<string>();

export function isUnfolded(fold: string): boolean {
  return unfolded.has(fold);
}

export function rememberFold(fold: string, open: boolean): void {
  unfolded.delete(fold);
  if (!open) return;
  unfolded.add(fold);
  const [oldest] = unfolded;
  if (unfolded.size > MOST && oldest !== undefined) unfolded.delete(oldest);
}
