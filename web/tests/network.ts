// The network between a browser and its daemon, which can be away, as when a laptop sleeps.

import { createServer, request, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A proxy that the browser asks for everything, its own machine included. */
export class Network {
  private readonly sockets = new Set<Socket>();
  private away = false;

  private constructor(private readonly server: Server) {
    server.on("connection", (socket) => {
      if (this.away) {
        socket.destroy();
        return;
      }
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
  }

  static async start(): Promise<Network> {
    const server = createServer((asked, answer) => {
      const onward = request(asked.url ?? "", { method: asked.method, headers: asked.headers }, (came) => {
        answer.writeHead(came.statusCode ?? 502, came.headers);
        came.pipe(answer);
        came.once("error", () => answer.destroy());
      });
      onward.once("error", () => answer.destroy());
      answer.once("close", () => onward.destroy());
      asked.pipe(onward);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return new Network(server);
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Everything that is open breaks, and nothing can be opened. */
  cut(): void {
    this.away = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.away = false;
  }

  end(): void {
    this.cut();
    this.server.close();
  }
}
