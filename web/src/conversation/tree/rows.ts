// All branches of a conversation, a row per turn, as the daemon orders them, and what is drawn of each.

import { ask } from "../../api/client";
import type { TreeEntry, TreePage } from "../../api/types";

const PAGE = 500;

/** A turn in the drawing. */
export type Row = TreeEntry;

export async function readTree(conversation: string, signal?: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const { value } = await ask<TreePage>(`/conversations/${conversation}/tree`, { query: { limit: PAGE, cursor }, signal });
    rows.push(...(value.rows as Row[]));
    cursor = value.next ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

/** Keeps rows that did not change, so that what is drawn of them stays. */
export function keepRows(before: readonly Row[], now: Row[]): Row[] {
  const known = new Map(before.map((row) => [row.turn, row]));
  return now.map((row) => {
    const old = known.get(row.turn);
    return old && JSON.stringify(old) === JSON.stringify(row) ? old : row;
  });
}

/** The newest turn below another that nothing hangs on: where its branch ends. */
export function newestLeaf(rows: readonly Row[], turn: string): string {
  const below = new Set([turn]);
  const parents = new Set<string>();
  // Parents come before what hangs on them.
  for (const row of rows) {
    if (!row.parent) continue;
    if (below.has(row.parent)) below.add(row.turn);
    parents.add(row.parent);
  }
  let newest: Row | undefined;
  for (const row of rows) {
    if (!below.has(row.turn) || parents.has(row.turn)) continue;
    if (newest === undefined || (row.started ?? "") >= (newest.started ?? "")) newest = row;
  }
  return newest?.turn ?? turn;
}

/** How a row's lines are drawn. */
export interface Rails {
  /** Its own column. */
  column: number;
  /** Columns to its left that pass by; true where they lead to the head. */
  through: boolean[];
  /** It comes from above in its column, or from the column to its left. */
  from: "nothing" | "above" | "left";
  /** Something hangs on it: its column goes on below. */
  down: "nothing" | "aside" | "path";
}

/** More columns than fit are drawn in the last one. */
export function railsOf(rows: readonly Row[], most: number): Rails[] {
  const rails = new Array<Rails>(rows.length);
  const parents = new Set(rows.map((row) => row.parent));
  /** Whether what goes on in a column leads to the head, from below up. */
  const leads: boolean[] = [];
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at] as Row;
    const column = Math.min(row.depth, most);
    const from = row.branches_off && row.depth > 0 ? "left" : at === 0 || (!row.parent && row.depth > 0) ? "nothing" : row.parent || rows[0]?.depth !== 0 ? "above" : "nothing";
    rails[at] = {
      column,
      through: leads.slice(0, column).concat(new Array<boolean>(Math.max(0, column - leads.length)).fill(false)),
      from,
      down: !parents.has(row.turn) ? "nothing" : row.on_path && leads[row.depth] ? "path" : "aside",
    };
    leads[row.depth] = row.branches_off ? false : row.on_path;
  }
  return rails;
}
