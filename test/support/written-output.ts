import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a run keeps what its services write. Processes that vitest starts inherit it. */
const VARIABLE = 'RULE_SERVER_TEST_OUTPUT';
const NOTED = 'noted-';
const SOURCES = join(import.meta.dirname, '../../src');
/** Inputs that say nothing of their own get a text by which they are recognised. */
export const INPUT_MARKER = 'input-marker-';
/**
 * Shorter texts stand in a log by chance: its ids alone have some ten million places for one, and there are not many more texts of
 * five letters and digits than that. From six on only words of the service do, and they are left out, and what looks like a part
 * of an id or a time: of that there must be sixteen.
 */
const SHORTEST_NOTED = 6;
const SHORTEST_OF_IDS = 16;
const LONGEST_NOTED = 64;
const MOST_NOTED = 20_000;

const noted = new Set<string>();
let inputs = 0;

/** A run begins: from now on everything is kept that services write. Returns the folder. */
export function keepOutput(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rule-server-output-'));
  process.env[VARIABLE] = directory;
  return directory;
}

/** Keeps what a service wrote. `writer`: which one. */
export function keepWritten(writer: string | number, text: string | Uint8Array): void {
  const directory = process.env[VARIABLE];
  if (directory !== undefined) appendFileSync(join(directory, `${writer}.log`), text);
}

/** Notes a secret, or a text of an input: no service may write it. */
export function noteSecret(text: string): void {
  const directory = process.env[VARIABLE];
  const short = text.slice(0, LONGEST_NOTED);
  if (directory === undefined || noted.has(short) || noted.size >= MOST_NOTED) return;
  if (short.length < (/^[\da-f.:TZ-]*$/.test(short) ? SHORTEST_OF_IDS : SHORTEST_NOTED)) return;
  if (new Set(short).size < 4) return; // padding
  noted.add(short);
  appendFileSync(join(directory, `${NOTED}${process.pid}`), `${JSON.stringify(short)}\n`);
}

/** Notes the keys and the password in the settings of a service. */
export function noteSettings(settings: Record<string, string | number | undefined>): void {
  for (const pair of String(settings.API_KEYS ?? '').split(',')) noteSecret(pair.slice(pair.indexOf(':') + 1));
  for (const url of [settings.QUEUE_URL, settings.REDIS_URL])
    if (url !== undefined && URL.canParse(String(url))) noteSecret(decodeURIComponent(new URL(String(url)).password));
}

/** Notes every text in the data of a call. */
function noteInput(data: unknown): void {
  if (typeof data === 'string') noteSecret(data);
  else if (Array.isArray(data)) data.slice(0, 20).forEach(noteInput);
  else if (typeof data === 'object' && data !== null) Object.values(data).slice(0, 20).forEach(noteInput);
}

/** Notes the inputs in the body of a request, as JSON. */
export function noteInputsIn(body: string): void {
  const json = parsed(body);
  if (typeof json !== 'object' || json === null) return;
  for (const name of ['the service', 'roam'])
    if (name in json) noteInput(Object.entries(json).find(([key]) => key === name)?.[1]);
  if ('cases' in json && Array.isArray(json.cases))
    for (const each of json.cases.slice(0, 20)) noteInput(each?.['the service']);
}

/** The same call, with an input that is recognised when it has none. */
export function withMarkedInput(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  if ('the service' in body) return body;
  return { ...body, 'the service': { note: `${INPUT_MARKER}${process.pid}-${inputs++}` } };
}

/** What of all that was noted stands in what was written: the file and the line, each at most once. */
export function findLeaks(directory: string): string[] {
  const files = readdirSync(directory);
  const secrets = files
    .filter((name) => name.startsWith(NOTED))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
    .map((line): string => JSON.parse(line));
  const words = wordsOfTheService();
  const byStart = startsOf([...new Set(secrets)].filter((secret) => !words.includes(secret)).concat(INPUT_MARKER));
  return files
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => {
      const text = readFileSync(join(directory, name), 'utf8');
      return [...foundIn(text, byStart)].map(
        ([found, at]) => `${name}: ${JSON.stringify(found)} in …${text.slice(Math.max(0, at - 200), at + 100)}…`,
      );
    });
}

/** Texts by their first characters, so that a log is gone through once for all of them. Logs are JSON: quotes and the like are escaped there. */
function startsOf(secrets: string[]): Map<string, string[]> {
  const byStart = new Map<string, string[]>();
  for (const text of new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))) {
    const start = text.slice(0, SHORTEST_NOTED);
    byStart.set(start, [...(byStart.get(start) ?? []), text]);
  }
  return byStart;
}

/** Each text that stands somewhere in there, and where it does first. */
function foundIn(text: string, byStart: Map<string, string[]>): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at <= text.length - SHORTEST_NOTED; at++) {
    const starts = byStart.get(text.slice(at, at + SHORTEST_NOTED));
    for (const secret of starts ?? []) if (!found.has(secret) && text.startsWith(secret, at)) found.set(secret, at);
  }
  return found;
}

/** The sources: what stands in them may stand in a log. */
function wordsOfTheService(): string {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return names.map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The end of a run: fails it when a service wrote a secret or an input. */
export function checkOutput(directory: string): void {
  const leaks = findLeaks(directory);
  rmSync(directory, { recursive: true, force: true });
  if (leaks.length === 0) return;
  process.exitCode = 1;
  throw new Error(`A service wrote what it must not:\n${leaks.slice(0, 20).join('\n')}`);
}
