import type { JSX } from "solid-js";

const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4",
  plus: "M12 5v14M5 12h14",
  inbox: "M4 13l2-8h12l2 8v6H4zM4 13h5l1 2h4l1-2h5",
  flow: "M6 4v6a4 4 0 0 0 4 4h4a4 4 0 0 1 4 4v2M6 4l-2 2M6 4l2 2M18 20l-2-2M18 20l2-2",
  stats: "M5 20V10M12 20V4M19 20v-7",
  agents: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  devices: "M7 3h10v18H7zM11 18h2",
  tree: "M6 4v16M6 9h6a4 4 0 0 1 4 4v7M16 20l-2-2M16 20l2-2",
  back: "M15 5l-7 7 7 7",
  edit: "M5 19l1-4L16 5l3 3L9 18zM14 7l3 3",
  retry: "M5 12a7 7 0 1 0 2-5M7 3v4h4",
  branch: "M7 4v16M7 14c6 0 10-2 10-8M17 6l-2 2M17 6l2 2",
  rewind: "M11 6l-6 6 6 6M19 6l-6 6 6 6",
  attach: "M8 12l5-5a3 3 0 0 1 4 4l-7 7a5 5 0 0 1-7-7l7-7",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l11 7-11 7z",
  up: "M6 14l6-6 6 6",
  down: "M6 10l6 6 6-6",
  info: "M12 11v6M12 7v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 20h4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14l4-4M8 12l-2 2a3.5 3.5 0 0 0 5 5l2-2M16 12l2-2a3.5 3.5 0 0 0-5-5l-2 2",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  check: "M5 13l4 4L19 7",
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing beside words or a label; it says nothing by itself. */
export function Icon(props: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg width={props.size ?? 18} height={props.size ?? 18} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={PATHS[props.name]} />
    </svg>
  );
}
