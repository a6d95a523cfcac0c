import { isInMilliseconds } from './time-of-case.ts';

/** Moments as they are typed and shown: epoch ms as text, times of day in a time zone by its IANA name. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const DATE = /^(\d{4})(?:-(\d\d?)-(\d\d?)|(\d\d)(\d\d)|-?(\d{3})|-?W(\d\d)(?:-?([1-7]))?)$/i;
const TIME = /^(\d\d?)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?$/;
const WITH_OFFSET = /^(.*?)\s*(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)$/i;

/** `ms`: epoch ms as text. A local time without an offset does not occur, or twice, where clocks are changed: the kind is the code of the problem. */
type ReadMoment = { kind: 'moment'; ms: string } | { kind: NoMoment };
type NoMoment = 'no-time' | 'time-in-seconds' | 'time-without-offset' | 'time-skipped' | 'time-twice';

const IN_SECONDS = /^[1-9]\d{9}$/;

/** Whether a number is taken for seconds: as milliseconds it would be a day of early 1970, which nobody means. */
export const isInSeconds = (time: bigint | string): boolean => IN_SECONDS.test(String(time));

/**
 * Reads a moment as it was typed: milliseconds, any ISO 8601 date and time with an offset, and without one a date and time of `zone`. A time
 * that occurs twice or never in the zone is not guessed.
 */
export function readMoment(typed: string, zone: string | undefined): ReadMoment {
  const text = typed.trim();
  if (isInSeconds(text)) return { kind: 'time-in-seconds' };
  if (isInMilliseconds(text)) return { kind: 'moment', ms: text };
  const [, before = '', z, sign, hours, minutes = '0'] = (hasTime(text) && WITH_OFFSET.exec(text)) || [];
  const local = localMs(z || sign ? before : text);
  if (local === null) return { kind: 'no-time' };
  if (z) return positive(local);
  if (sign) return positive(local - (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE);
  if (zone === undefined) return { kind: 'time-without-offset' };
  const offsets = new Set([local - DAY, local + DAY].map((at) => offsetMs(at, zone)));
  const [at, later] = [...offsets].map((offset) => local - offset).filter((ms) => ms + offsetMs(ms, zone) === local);
  if (at === undefined) return { kind: 'time-skipped' };
  return later === undefined ? positive(at) : { kind: 'time-twice' };
}

/** A moment as it is typed: 2026-01-31 08:00:00, with thousandths when it has them. */
export function printMoment(ms: string, zone: string): string {
  const at = Number(ms);
  if (Number.isNaN(new Date(at).getTime())) return ms;
  const [day = '', time = ''] = new Date(at + offsetMs(at, zone)).toISOString().split('T');
  return `${day} ${time.replace(/(\.000)?Z$/, '')}`;
}

/** When the day of a moment began in a zone, also where midnight occurs twice or never. */
export function startOfDay(at: number, zone: string): number {
  const dayOf = (ms: number) => printMoment(String(ms), zone).slice(0, 'yyyy-mm-dd'.length);
  const midnight = Date.parse(`${dayOf(at)}T00:00:00Z`);
  const starts = [midnight - DAY, midnight + DAY].map((near) => midnight - offsetMs(near, zone));
  return Math.min(...starts.filter((ms) => dayOf(ms) === dayOf(at)));
}

/** How far a zone is ahead of UTC at a moment, as `UTC+08:00`. */
export function offsetName(ms: string, zone: string): string {
  const minutes = Math.round(offsetMs(Number(ms), zone) / MINUTE);
  const two = (number: number) => String(number).padStart(2, '0');
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Whether there is a time zone of this name, such as Europe/Berlin. */
export function isTimeZone(name: string): boolean {
  try {
    formatIn(name);
    return true;
  } catch {
    return false;
  }
}

/** An offset follows a time of day only: the end of a date looks like one. */
function hasTime(text: string): boolean {
  return /[T ]\d/i.test(text);
}

/** The date and time as if they were UTC; null when there is no such day or time. */
function localMs(text: string): number | null {
  const [date = '', time = '0', ...rest] = text.split(/[T ]+/i);
  const [, hour = '', minute = '0', second = '0', fraction = '0'] = TIME.exec(time) ?? [];
  const day = dayMs(date);
  if (rest.length > 0 || day === null || hour === '') return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return day + seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

function dayMs(text: string): number | null {
  const [, year, month, day, basicMonth, basicDay, ordinal, week, weekday = '1'] = DATE.exec(text) ?? [];
  if (year === undefined) return null;
  if (ordinal !== undefined) {
    const at = Date.UTC(Number(year), 0, Number(ordinal));
    return Number(ordinal) > 0 && new Date(at).getUTCFullYear() === Number(year) ? at : null;
  }
  if (week !== undefined) return weekMs(Number(year), Number(week), Number(weekday));
  const [m, d] = [Number(month ?? basicMonth), Number(day ?? basicDay)];
  const at = Date.UTC(Number(year), m - 1, d);
  return new Date(at).getUTCMonth() === m - 1 && new Date(at).getUTCDate() === d ? at : null;
}

/** The first week of a year is the one with its 4th of January; a week begins on Monday (ISO 8601). */
function weekMs(year: number, week: number, weekday: number): number | null {
  const fourth = new Date(Date.UTC(year, 0, 4));
  const monday = Date.UTC(year, 0, 4 - ((fourth.getUTCDay() + 6) % 7));
  return week >= 1 && week <= 53 ? monday + ((week - 1) * 7 + weekday - 1) * 24 * 60 * MINUTE : null;
}

function offsetMs(at: number, zone: string): number {
  const parts = new Map(
    formatIn(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(at / 1000) * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const numbers = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', ...numbers, ...time });
  formats.set(zone, format);
  return format;
}

function positive(ms: number): ReadMoment {
  return ms > 0 ? { kind: 'moment', ms: String(ms) } : { kind: 'no-time' };
}
