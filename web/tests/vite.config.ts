import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// Makes programs for Node.js of the tests: they may import sources of the page, written for a bundler.
const here = fileURLToPath(new URL(".", import.meta.url));
const entries = readdirSync(here).filter((name) => name.endsWith(".test.ts") || name === "shots.ts");

export default defineConfig({
  root: join(here, ".."),
  publicDir: false,
  build: {
    ssr: true,
    target: "node20",
    outDir: "tests-built",
    emptyOutDir: true,
    rollupOptions: {
      input: Object.fromEntries(entries.map((name) => [name.replace(/\.ts$/, ""), join(here, name)])),
    },
  },
});
