// Bars by day on a canvas: one series over the other, or one before the other. The legend tells the sums, or the day
// that is pointed at.

import { createEffect, createSignal, For, on, onCleanup, onMount, Show, type JSX } from "solid-js";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../../state/theme";
import { colour, onSchemeChange } from "./colours";

export interface Series {
  name: string;
  /** A token of tokens.css. */
  colour: string;
  values: number[];
  /** What the legend says while no day is pointed at. */
  sum: number;
}

export interface PlotProps {
  label: string;
  days: string[];
  /** From the bottom to the top, or from the front to the back. */
  series: Series[];
  stacked: boolean;
  format: (value: number) => string;
  /** What lines may be apart, where tens do not suit. */
  steps?: number[];
}

const HEIGHT = 180;
/** Room for half of the last day's name. */
const EDGE = 18;
/** Room for the numbers. */
const MARGIN = 56;

export function Plot(props: PlotProps): JSX.Element {
  const [pointed, setPointed] = createSignal<number | null>(null);
  let place!: HTMLDivElement;
  let plot: uPlot | undefined;
  const draw = () => {
    plot?.destroy();
    setPointed(null);
    plot = new uPlot(optionsOf(props, place, setPointed), dataOf(props), place);
  };
  onMount(() => {
    draw();
    const size = new ResizeObserver(() => plot?.setSize({ width: place.clientWidth, height: HEIGHT }));
    size.observe(place);
    const forget = onSchemeChange(draw);
    onCleanup(() => {
      size.disconnect();
      forget();
      plot?.destroy();
    });
  });
  createEffect(on([() => props.series, () => props.days, theme], draw, { defer: true }));
  const day = () => {
    const index = pointed();
    return index === null ? undefined : props.days[index];
  };
  return (
    <figure class="plot">
      <figcaption class="plot-legend small">
        <For each={props.series}>
          {(series) => (
            <span class="plot-key">
              <span class="plot-swatch" style={{ background: `var(${series.colour})` }} />
              {series.name} <strong class="number">{props.format(pointed() === null ? series.sum : (series.values[pointed() ?? 0] ?? 0))}</strong>
            </span>
          )}
        </For>
        <Show when={day()}>{(shown) => <span class="plot-day number">{dayWords(shown())}</span>}</Show>
      </figcaption>
      <div class="plot-canvas" role="img" aria-label={props.label} ref={(element) => (place = element)} />
    </figure>
  );
}

const MONTH_DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });

export function dayWords(day: string): string {
  return MONTH_DAY.format(new Date(day));
}

/** As uPlot wants it: what is behind first. Stacked, each is drawn with all that are below it. */
function dataOf(props: PlotProps): uPlot.AlignedData {
  const upTo = (last: number) => props.days.map((_, day) => props.series.slice(0, last + 1).reduce((sum, one) => sum + (one.values[day] ?? 0), 0));
  const heights = props.series.map((one, index) => (props.stacked ? upTo(index) : one.values));
  return [props.days.map((_, index) => index), ...heights.reverse()];
}

function optionsOf(props: PlotProps, place: HTMLElement, point: (index: number | null) => void): uPlot.Options {
  const ink = colour(place, "--ink-2");
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  const last = props.days.length - 1;
  const bars = uPlot.paths.bars?.({ size: [0.7, 32], radius: 0.1 });
  const axis = { stroke: ink, font, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [8, EDGE, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, last + 0.5] },
      y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.05 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, splits: (self) => someDays(last, self.width), values: (_, splits) => splits.map((index) => dayWords(props.days[index] ?? "")) },
      { ...axis, grid: { stroke: colour(place, "--line"), width: 1 }, size: (_, labels) => Math.max(MARGIN, 16 + 7 * Math.max(0, ...(labels ?? []).map((label) => label.length))), space: 32, ...(props.steps ? { incrs: props.steps } : {}), values: (_, splits) => splits.map((value) => (value === 0 ? "0" : props.format(value))) },
    ],
    series: [{}, ...[...props.series].reverse().map((one) => ({ label: one.name, fill: colour(place, one.colour), width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) }))],
    hooks: { setCursor: [(self) => point(self.cursor.idx ?? null)] },
  };
}

/** As many days as have room for their names; today is always one of them. */
function someDays(last: number, width: number): number[] {
  const every = Math.max(1, Math.ceil((last + 1) / Math.max(1, Math.floor((width - MARGIN - EDGE) / 64))));
  return Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => last - index * every).reverse();
}
