// Holds the stream for all tabs of this browser: six connections to a host are all it has.

import { StreamConnection, type Port } from "./connection";
import type { FromTab } from "./protocol";

const connection = new StreamConnection();

(self as unknown as SharedWorkerGlobalScope).onconnect = (joined) => {
  const channel = joined.ports[0];
  if (!channel) return;
  const port: Port = { send: (message) => channel.postMessage(message) };
  channel.onmessage = (message: MessageEvent<FromTab>) => {
    connection.heard(port, message.data);
    // A tab holds a lock of its name as long as it lives: who gets it knows that the tab is gone.
    if (message.data.say === "hello") {
      void navigator.locks.request(message.data.tab, () => connection.gone(port));
    }
  };
};
