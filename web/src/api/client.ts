// Requests to the daemon: with the page's secret, and problems as errors that say what to do.

import type { ProblemBody } from "./types";

export const API = "/api/v1";
const KEPT = "rejoin.secret";

/** What the daemon refused, or that it could not be asked at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly hint?: string | null,
    /** What belongs to this kind of problem, as the daemon sent it. */
    readonly body: Record<string, unknown> = {},
  ) {
    super(detail);
  }

  static of(error: unknown): Problem {
    if (error instanceof Problem) return error;
    return new Problem(0, "unreachable", "rejoin cannot be reached", "is `rejoin serve` still running?");
  }
}

export function secret(): string | null {
  return localStorage.getItem(KEPT);
}

export function keepSecret(value: string | null): void {
  if (value === null) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, value);
}

/** Called when the daemon no longer knows this browser. */
let onLoggedOut = () => {};
export function whenLoggedOut(call: () => void): void {
  onLoggedOut = call;
}

export interface Asked {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  body?: unknown;
  bytes?: Blob;
  type?: string;
  query?: Record<string, string | number | boolean | null | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer<T> {
  value: T;
  etag: string | null;
}

/** Asks the daemon. Throws a `Problem` for anything but success. */
export async function ask<T>(path: string, asked: Asked = {}): Promise<Answer<T>> {
  const response = await send(path, asked);
  const text = await response.text();
  return { value: (text === "" ? undefined : JSON.parse(text)) as T, etag: response.headers.get("etag") };
}

/** The value alone, which is all most callers want. */
export async function get<T>(path: string, query?: Asked["query"], signal?: AbortSignal): Promise<T> {
  return (await ask<T>(path, { query, signal })).value;
}

export async function post<T>(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<T> {
  return (await ask<T>(path, { method: "POST", body, headers })).value;
}

export async function send(path: string, asked: Asked): Promise<Response> {
  const headers: Record<string, string> = { ...asked.headers };
  const kept = secret();
  if (kept !== null) headers["X-Rejoin-Secret"] = kept;
  let body: BodyInit | undefined;
  if (asked.bytes) {
    body = asked.bytes;
    headers["Content-Type"] = asked.type ?? "application/octet-stream";
  } else if (asked.body !== undefined) {
    body = JSON.stringify(asked.body);
    headers["Content-Type"] = "application/json";
  }
  let response: Response;
  try {
    response = await fetch(API + path + queryOf(asked.query), {
      method: asked.method ?? "GET",
      headers,
      body,
      signal: asked.signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (asked.signal?.aborted) throw error;
    throw Problem.of(error);
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && path !== "/login") onLoggedOut();
  throw problem;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as ProblemBody;
    return new Problem(response.status, body.code, body.detail, body.hint, body as unknown as Record<string, unknown>);
  } catch {
    return new Problem(response.status, "internal", `the daemon answered ${response.status}`);
  }
}

function queryOf(query: Asked["query"]): string {
  const set = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  if (set.length === 0) return "";
  return "?" + set.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
}
