import { defineConfig } from "vite";
import solid from "vite-plugin-solid";

// The bundle is committed and embedded by rejoin-server: `cargo build` never needs Node.
export default defineConfig({
  plugins: [solid()],
  base: "/",
  build: {
    outDir: "../crates/rejoin-server/web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    // Inlined files would be data: addresses, which the page's policy refuses for everything but images.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
