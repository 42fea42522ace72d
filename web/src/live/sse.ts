// Server-sent events by fetch: an EventSource cannot send the page's secret.

export interface SseEvent {
  id: string | null;
  type: string;
  data: string;
}

/** Reads bytes as events; a piece may end anywhere. */
export class SseParser {
  private rest = "";
  private id: string | null = null;
  private type = "";
  private data: string[] = [];

  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length > 0) {
          events.push({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
        }
        this.id = null;
        this.type = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      let value = colon < 0 ? "" : line.slice(colon + 1);
      if (value.startsWith(" ")) value = value.slice(1);
      if (field === "data") this.data.push(value);
      else if (field === "event") this.type = value;
      else if (field === "id") this.id = value;
    }
    return events;
  }
}
