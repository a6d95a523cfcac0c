import { offsetName, printMoment } from '../../shared/contract/moment.ts';

/** A duration as people read it: 0.4 ms, 12 ms, 1.94 s, 2 min 5 s. */
export function formatMs(ms: number): string {
  if (ms < 0) return `${Math.round(ms)} ms`;
  if (ms > 0 && ms < 0.1) return '< 0.1 ms';
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How long ago, in the largest unit that fits: 2 s, 5 min, 3 h, 12 d. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

type Reader = { language: string; zone: string };

/** The time of day, with the date when it is another day's than `now`. */
export function formatTime(at: number, now: number, { language, zone }: Reader): string {
  const dayOf = (ms: number) => printMoment(String(ms), zone).slice(0, 'yyyy-mm-dd'.length);
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone: zone } as const;
  const isToday = dayOf(at) === dayOf(now);
  return new Intl.DateTimeFormat(language, isToday ? time : { month: 'short', day: 'numeric', ...time }).format(at);
}

/** A moment as a date and time, to the second, with the offset of its zone: it may have been chosen in another one. */
export function formatMoment(ms: string, { language, zone }: Reader): string {
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) return ms;
  const style = { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23', timeZone: zone } as const;
  return `${new Intl.DateTimeFormat(language, style).format(date)} ${offsetName(ms, zone)}`;
}

/** The day of the week of a moment, in a zone. */
export function formatDay(ms: string, language: string, timeZone: string): string {
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) return ms;
  return new Intl.DateTimeFormat(language, { weekday: 'long', timeZone }).format(date);
}

/** Bytes as people read them. */
export function formatBytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
