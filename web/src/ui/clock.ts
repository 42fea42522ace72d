import { createSignal } from "solid-js";

const [now, setNow] = createSignal(Date.now());
setInterval(() => setNow(Date.now()), 20_000);
/** The time, as exactly as ages are told. */
export { now };
