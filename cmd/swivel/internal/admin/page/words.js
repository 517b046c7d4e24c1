// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const count = (n) => whole.format(n);
export const number = (n) => (n >= 1000 ? whole : fine).format(n);
export const percent = (share) => (share === null || share === undefined ? "–" : fine.format(share * 100) + " %");
export const milliseconds = (ms) => (!ms ? "–" : ms < 1000 ? fine.format(ms) + " ms" : fine.format(ms / 1000) + " s");

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${fine.format(n)} ${units[i]}`;
}

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${s % 60 ? `${s % 60}s` : ""}`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${Math.floor((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86400)}d${Math.floor((s % 86400) / 3600)}h`;
}

// at is a time of day, with the date if that is not today's.
export function at(unix) {
  const t = new Date(unix * 1000);
  return (Math.abs(Date.now() - t) < 12 * 3600e3 ? clock : day).format(t);
}

export const now = () => Date.now() / 1000;
