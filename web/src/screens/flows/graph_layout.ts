// Where the steps of a flow stand: layers from left to right by what waits for what, long connections around others.

import type { Connection, FlowGraph, GraphStep } from "./types";

export const NODE = { width: 184, height: 52 };
const GROUP = { head: 28, pad: 10, gap: 8 };
const GAP = { column: 52, row: 20 };
/** A connection that passes a layer takes so much of it. */
const LANE = 10;

export interface Placed {
  step: GraphStep;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Line {
  connection: Connection;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  groups: Placed[];
  nodes: Placed[];
  lines: Line[];
}

/** What stands in a layer: a step with those inside of it, or a connection on its way. */
interface Item {
  name: string;
  height: number;
  layer: number;
  place: number;
  y: number;
  step?: GraphStep;
}

export function layOut(graph: FlowGraph): Layout {
  const inner = new Map<string, GraphStep[]>();
  for (const step of graph.steps) if (step.inside !== undefined) inner.set(step.inside, [...(inner.get(step.inside) ?? []), step]);
  const home = new Map(graph.steps.map((step) => [step.name, step.inside ?? step.name]));
  const items = new Map<string, Item>();
  for (const step of graph.steps.filter((one) => one.inside === undefined)) {
    const many = inner.get(step.name)?.length ?? 0;
    const height = many === 0 ? NODE.height : GROUP.head + many * NODE.height + (many - 1) * GROUP.gap + GROUP.pad;
    items.set(step.name, { name: step.name, height, layer: 0, place: items.size, y: 0, step });
  }
  const between = graph.connections
    .map((connection) => ({ connection, from: home.get(connection.from) ?? "", to: home.get(connection.to) ?? "" }))
    .filter(({ from, to }) => from !== to && items.has(from) && items.has(to));
  setLayers(items, between);
  const { layers, ways } = withLanes(items, between);
  order(layers, ways);
  return draw(graph, layers, inner, between, ways);
}

type Between = { connection: Connection; from: string; to: string };

/** Each step one layer behind the last it waits for. A flow has no cycles, so this ends. */
function setLayers(items: Map<string, Item>, between: Between[]): void {
  for (let round = 0, changed = true; changed && round <= items.size; round += 1) {
    changed = false;
    for (const { from, to } of between) {
      const [earlier, later] = [items.get(from), items.get(to)];
      if (earlier && later && later.layer <= earlier.layer) {
        later.layer = earlier.layer + 1;
        changed = true;
      }
    }
  }
}

/** Layers with a lane for every connection that passes them; the way of each connection through them. */
function withLanes(items: Map<string, Item>, between: Between[]): { layers: Item[][]; ways: Item[][] } {
  const layers: Item[][] = [];
  for (const item of items.values()) (layers[item.layer] ??= []).push(item);
  const ways = between.map(({ from, to }) => {
    const [first, last] = [items.get(from)!, items.get(to)!];
    const lanes = Array.from({ length: last.layer - first.layer - 1 }, (_, at): Item => {
      const lane = { name: `${from} ${to} ${at}`, height: LANE, layer: first.layer + 1 + at, place: first.place, y: 0 };
      layers[lane.layer]?.push(lane);
      return lane;
    });
    return [first, ...lanes, last];
  });
  return { layers, ways };
}

/** Few crossings: everything beside what it is connected with, over a few sweeps. */
function order(layers: Item[][], ways: Item[][]): void {
  const before = new Map<Item, Item[]>();
  for (const way of ways) way.slice(1).forEach((item, at) => before.set(item, [...(before.get(item) ?? []), way[at]!]));
  for (const layer of layers) {
    const weight = (item: Item) => {
      const known = before.get(item) ?? [];
      return known.length === 0 ? item.place : known.reduce((sum, one) => sum + one.place, 0) / known.length;
    };
    const weights = new Map(layer.map((item) => [item, weight(item)]));
    layer.sort((a, b) => weights.get(a)! - weights.get(b)! || Number(a.step === undefined) - Number(b.step === undefined));
    layer.forEach((item, at) => (item.place = at));
  }
  const heights = layers.map((layer) => layer.reduce((sum, item) => sum + item.height, 0) + (layer.length - 1) * GAP.row);
  const tallest = Math.max(0, ...heights);
  layers.forEach((layer, at) => {
    let y = (tallest - heights[at]!) / 2;
    for (const item of layer) {
      item.y = y;
      y += item.height + GAP.row;
    }
  });
}

function draw(graph: FlowGraph, layers: Item[][], inner: Map<string, GraphStep[]>, between: Between[], ways: Item[][]): Layout {
  const left = (item: Item) => item.layer * (wide + GAP.column);
  const wide = NODE.width + (inner.size > 0 ? 2 * GROUP.pad : 0);
  const groups: Placed[] = [];
  const nodes: Placed[] = [];
  const at = new Map<string, Placed>();
  for (const item of layers.flat()) {
    if (!item.step) continue;
    const inside = inner.get(item.name);
    const box = { step: item.step, x: left(item), y: item.y, width: wide, height: item.height };
    at.set(item.name, box);
    if (!inside) {
      const node = { ...box, x: box.x + (wide - NODE.width) / 2, width: NODE.width };
      at.set(item.name, node);
      nodes.push(node);
      continue;
    }
    groups.push(box);
    inside.forEach((step, number) => {
      const node = { step, x: box.x + GROUP.pad, y: box.y + GROUP.head + number * (NODE.height + GROUP.gap), ...NODE };
      at.set(step.name, node);
      nodes.push(node);
    });
  }
  const lines = between.flatMap(({ connection }, number): Line[] => {
    const [from, to] = [at.get(connection.from), at.get(connection.to)];
    if (!from || !to) return [];
    const lanes = ways[number]!.slice(1, -1);
    const stops: [number, number][] = [
      [from.x + from.width, from.y + from.height / 2],
      ...lanes.flatMap((lane): [number, number][] => [[left(lane), lane.y + LANE / 2], [left(lane) + wide, lane.y + LANE / 2]]),
      [to.x - 5, to.y + to.height / 2],
    ];
    return [{ connection, path: curve(stops) }];
  });
  // In the order of the file, which is the order they are read in.
  const rank = new Map(graph.steps.map((step, place) => [step.name, place]));
  nodes.sort((a, b) => rank.get(a.step.name)! - rank.get(b.step.name)!);
  const width = layers.length * wide + Math.max(0, layers.length - 1) * GAP.column;
  const height = Math.max(0, ...layers.flat().map((item) => item.y + item.height));
  return { width, height, groups, nodes, lines };
}

/** Leaves and arrives level; straight through lanes. */
function curve(stops: [number, number][]): string {
  let path = `M${stops[0]![0]} ${stops[0]![1]}`;
  for (let at = 1; at < stops.length; at += 1) {
    const [[x0, y0], [x1, y1]] = [stops[at - 1]!, stops[at]!];
    const middle = (x0 + x1) / 2;
    path += y0 === y1 ? `H${x1}` : `C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`;
  }
  return path;
}
