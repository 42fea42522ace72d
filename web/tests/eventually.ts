/** Waits for what becomes true soon; a failure in between counts only when the time is over. */
export async function eventually<T>(what: string, look: () => Promise<T> | T, limit = 30_000): Promise<NonNullable<T>> {
  const until = Date.now() + limit;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found) return found as NonNullable<T>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > until) throw new Error(`waited in vain for ${what}${last ? `: ${String(last)}` : ""}`, { cause: last });
    await new Promise((done) => setTimeout(done, 25));
  }
}
