// Colours for code, loaded when the first finished block of code is shown.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = { bash, c, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["sh", "shell", "zsh", "console"], { languageName: "bash" });
hljs.registerAliases(["cpp", "c++", "h"], { languageName: "c" });
hljs.registerAliases(["toml", "ini"], { languageName: "yaml" });

/** More would hold up the page for something nobody reads whole. */
const LONGEST = 50_000;

export function highlight(code: HTMLElement): void {
  const language = code.dataset["language"] ?? "";
  const text = code.textContent ?? "";
  if (text.length > LONGEST || !hljs.getLanguage(language)) return;
  code.innerHTML = hljs.highlight(text, { language, ignoreIllegals: true }).value;
}
