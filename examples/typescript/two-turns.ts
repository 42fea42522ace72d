// One conversation of two turns, by a client whose types were generated from the OpenAPI document.

import createClient from "openapi-fetch";
import type { components, paths } from "./rejoin";

type Wanted = components["schemas"]["Wanted"];
type Run = components["schemas"]["ShownRun"];

const client = createClient<paths>({
  baseUrl: process.env["REJOIN_URL"],
  headers: { Authorization: `Bearer ${process.env["REJOIN_TOKEN"]}` },
});

/** Asks for a turn and waits for its end. */
async function turn(body: Wanted): Promise<Run> {
  const taken = await client.POST("/api/v1/runs", { body });
  if (!taken.data) throw new Error(`${taken.error.code}: ${taken.error.detail}`);
  const path = { id: taken.data.run };
  for (;;) {
    const { data, error } = await client.GET("/api/v1/runs/{id}", { params: { path, query: { wait: 30 } } });
    if (!data) throw new Error(`${error.code}: ${error.detail}`);
    if (!["queued", "running", "waiting"].includes(data.status)) return data;
  }
}

function decision(run: Run): string {
  return run.sessionResumed ? "resumed" : `fresh (${run.reason})`;
}

const first = await turn({ project: process.cwd(), agent: "demo", prompt: "remember MARK-a" });
console.log("first: ", first.status, decision(first));
const second = await turn({ conversation: first.conversation, prompt: "which marks were there?" });
console.log("second:", second.status, decision(second));
