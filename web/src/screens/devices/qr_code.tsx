// Text as a QR code. Black on white in every theme: not all cameras read the other way around.

import { Show, type JSX } from "solid-js";
import { createLoaded } from "../../state/loaded";
import { Failure } from "../../ui/states";

/** The white around it that readers need. */
const MARGIN = 4;

export function QrCode(props: { text: string; label: string }): JSX.Element {
  const drawn = createLoaded(() => props.text, draw);
  return (
    <Show when={drawn.error() === undefined} fallback={<Failure error={drawn.error()} label="It cannot be drawn" />}>
      <Show when={drawn.value()}>
        {(code) => (
          <svg class="qr" role="img" aria-label={props.label} viewBox={`0 0 ${code().size} ${code().size}`} shape-rendering="crispEdges">
            <rect width="100%" height="100%" fill="#fff" />
            <path d={code().path} fill="#000" />
          </svg>
        )}
      </Show>
    </Show>
  );
}

async function draw(text: string): Promise<{ size: number; path: string }> {
  const { default: qrcode } = await import("qrcode-generator");
  const code = qrcode(0, "M");
  code.addData(text);
  code.make();
  const many = code.getModuleCount();
  const places = Array.from({ length: many }, (_, index) => index);
  const path = places.flatMap((row) => places.filter((column) => code.isDark(row, column)).map((column) => `M${column + MARGIN} ${row + MARGIN}h1v1h-1z`)).join("");
  return { size: many + 2 * MARGIN, path };
}
