import { render } from "solid-js/web";
import { App } from "./app";
import { begin } from "./state/session";
import { applyTheme } from "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";

applyTheme();
void begin();
const root = document.getElementById("app");
if (root) render(() => <App />, root);
