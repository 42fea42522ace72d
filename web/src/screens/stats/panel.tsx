// One subject: its plot, the table behind it, and both as a file.

import { createSignal, For, Show, type JSX } from "solid-js";
import { Icon } from "../../ui/icon";
import { csv, download, type Cell } from "./csv";
import { Plot, type PlotProps } from "./plot";

export interface Table {
  head: string[];
  /** As they are: numbers are not rounded in the file. */
  rows: Cell[][];
  /** How the numbers of a column are shown. */
  format: ((value: number) => string)[];
}

export function Panel(props: { title: string; about: string; file: string; plot: PlotProps; table: Table; children?: JSX.Element }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const id = () => `stats-${props.file}`;
  return (
    <section class="card stats-panel" aria-labelledby={id()}>
      <div class="row stats-panel-head">
        <div class="grow">
          <h2 id={id()}>{props.title}</h2>
          <p class="small quiet">{props.about}</p>
        </div>
        <div class="row stats-acts">
          <button class="button plain" aria-label={`Table: ${props.title}`} aria-expanded={open()} onClick={() => setOpen(!open())}>Table<Icon name={open() ? "up" : "down"} size={14} /></button>
          <button class="button plain" aria-label={`Download as CSV: ${props.title}`} onClick={() => download(`rejoin-${props.file}.csv`, csv([props.table.head, ...props.table.rows]))}>
            <Icon name="down" size={16} />CSV
          </button>
        </div>
      </div>
      <Plot {...props.plot} />
      {props.children}
      <Show when={open()}><DataTable label={props.title} table={props.table} /></Show>
    </section>
  );
}

/** The newest first: that is what one looks for. */
function DataTable(props: { label: string; table: Table }): JSX.Element {
  const shown = (cell: Cell, column: number) => {
    if (typeof cell !== "number") return cell;
    // Where most are nothing, those that are something shall be seen.
    return cell === 0 ? "–" : (props.table.format[column]?.(cell) ?? cell);
  };
  const number = (column: number) => (typeof props.table.rows[0]?.[column] === "number" ? "number" : "");
  return (
    <div class="stats-table" role="region" aria-label={`${props.label}, as a table`} tabindex="0">
      <table class="data">
        <thead><tr><For each={props.table.head}>{(name, column) => <th scope="col" class={number(column())}>{name}</th>}</For></tr></thead>
        <tbody>
          <For each={[...props.table.rows].reverse()}>
            {(row) => <tr><For each={row}>{(cell, column) => <td class={number(column())}>{shown(cell, column())}</td>}</For></tr>}
          </For>
        </tbody>
      </table>
    </div>
  );
}
