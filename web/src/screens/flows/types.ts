// What the API says of flows, in the parts that are shown.

import type { Decision, Usage } from "../../api/types";

export type StepState = "waiting" | "running" | "done" | "failed" | "skipped" | "cancelled" | "cut" | "not_run" | "allowed";
export type Standing = "running" | "interrupted" | "done" | "failed" | "cancelled" | "damaged";

export interface FlowInput {
  name: string;
  description?: string | null;
  required: boolean;
  default?: unknown;
  one_of?: unknown[] | null;
}

export interface FlowProblem {
  line: number;
  column: number;
  text: string;
}

export interface FlowFile {
  file: string;
  name?: string;
  description?: string | null;
  inputs?: FlowInput[];
  steps?: string[];
  problems?: FlowProblem[];
}

export interface RunOverview {
  id: string;
  flow: string;
  file: string;
  dir: string;
  time: string;
  standing: Standing;
  done: number;
}

export interface StepKey {
  step: string;
  index?: number;
}

export interface StepReceipt {
  agent: string;
  turn: string;
  conversation?: string | null;
  plan: Decision;
  bytes: number;
  cost?: number | null;
  usage?: Usage | null;
}

export interface Ended extends StepKey {
  state: "done" | "failed" | "skipped" | "cancelled";
  allowed?: boolean;
  output: string;
  exit_code?: number | null;
  error?: string | null;
  receipt?: StepReceipt | null;
  milliseconds: number;
}

export interface Begun {
  id: string;
  flow: string;
  source: { file: string; text: string };
  inputs: Record<string, unknown>;
  dir: string;
  steps: string[];
  time: string;
}

export interface GraphStep {
  name: string;
  kind: "agent" | "command" | "parallel" | "for_each";
  inside?: string;
  agent?: string;
}

export interface Connection {
  from: string;
  to: string;
  how: "waits" | "continues" | "forks";
}

export interface FlowGraph {
  steps: GraphStep[];
  connections: Connection[];
}
