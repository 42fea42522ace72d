// Notifications of the browser: "done" and "asks", nothing else, and only if the user switched them on.

import { createSignal } from "solid-js";
import { go } from "../router";
import { visible } from "../ui/visible";

const WANTED = "rejoin.notifications";
const LOOKED_AT = "rejoin.looked-at";
/** So long other tabs have to say that the user looks at one of them. */
const GRACE = 400;

/** Whether they can be sent here, and if not, why. */
export type Notifications = "on" | "off" | "blocked" | "insecure" | "unsupported";

const [notifications, setNotifications] = createSignal<Notifications>(now());
export { notifications };

function now(): Notifications {
  if (!isSecureContext) return "insecure";
  if (!("Notification" in window)) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(WANTED) === "on" ? "on" : "off";
}

/** Switches them on, which asks the browser's leave, or off. */
export async function switchNotifications(on: boolean): Promise<void> {
  if (on && "Notification" in window) {
    localStorage.setItem(WANTED, "on");
    await Notification.requestPermission();
  } else {
    localStorage.removeItem(WANTED);
  }
  setNotifications(now());
}

export interface News {
  what: "asks" | "done";
  conversation: string;
  title: string;
  text: string;
}

/** Tells the user, unless he looks at the page anyway. */
export function tell(news: News): void {
  if (document.visibilityState === "visible" && document.hasFocus()) {
    localStorage.setItem(LOOKED_AT, String(Date.now()));
    return;
  }
  if (notifications() !== "on") return;
  setTimeout(() => {
    if (Date.now() - Number(localStorage.getItem(LOOKED_AT)) < 5 * GRACE) return;
    try {
      const title = `${news.what === "asks" ? "Asks" : "Done"}: ${visible(news.title) || "a conversation"}`;
      // One with the same tag takes the place of the other: seven tabs tell it once.
      const sent = new Notification(title, { body: visible(news.text).slice(0, 300), tag: `${news.what}-${news.conversation}` });
      sent.onclick = () => {
        window.focus();
        go(news.what === "asks" ? { screen: "inbox" } : { screen: "conversation", id: news.conversation, view: "turns" });
        sent.close();
      };
    } catch {
      // Browsers of phones have the word and refuse it to pages.
      setNotifications("unsupported");
    }
  }, GRACE);
}
