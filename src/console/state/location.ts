import { useSyncExternalStore } from 'react';
import { formatTarget, namedTarget, type Target as TargetOfCall } from '../../shared/contract/target.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type ReadJson, readJson } from '../../shared/json-tree/read-json.ts';

/** Where a run goes: as in a call, or one run on every client there is, to compare them. An empty name is still to be chosen. */
export type Target = TargetOfCall | { kind: 'each' };

/**
 * Everything that defines what is on the screen, as the address bar has it. The input, and what is searched for, stand behind the `#`:
 * browsers keep that part to themselves, so no server and no log on the way sees it.
 */
export type Place = {
  app: string | null;
  ruleId: string | null;
  confId: string | null;
  target: Target;
  ts: string | null;
  /** The run that is shown. Then `input` is that run's own. */
  run: string | null;
  /** Runs that are compared. */
  runs: string[];
  input: string | null;
  /** The search of the history. */
  find: string | null;
  /** The page that is open; null for the rule itself. */
  panel: Panel | null;
  /** Of the tests: where the inputs come from. */
  source: Source;
  /** Of a batch: its nodes are shown instead of its rows. */
  nodes: boolean;
  /** The batch that is shown. */
  batch: string | null;
  /** One of its items, by number; with the id of another batch and a dot before it when the item is of that one. */
  item: string | null;
  /** A saved case that is open, by its name. */
  caseName: string | null;
};
const panels = ['history', 'tests', 'ship'] as const;
export type Panel = (typeof panels)[number];
/** Saved cases, inputs that are given, earlier runs. */
export const sources = ['cases', 'inputs', 'runs'] as const;
export type Source = (typeof sources)[number];

/** Longer inputs are named by their run instead: address bars and chat programs cut them off. */
export const MAX_LINKED_INPUT = 16_000;
/** A text that is this many times longer does not fit, however much of it is space: it is not even read. */
const MANY_SPACES = 8;

/** Reads an address. What is not understood is as good as not there. */
export function readPlace(search: string, hash: string): Place {
  const query = new URLSearchParams(search);
  const hidden = new URLSearchParams(hash.replace(/^#/, ''));
  const input = hidden.get('input');
  return {
    app: id(query.get('app')),
    ruleId: id(query.get('rule')),
    confId: id(query.get('node')),
    target: readTarget(query.get('target') ?? ''),
    ts: id(query.get('ts')),
    run: query.get('run') || null,
    runs: (query.get('runs') ?? '').split(',').filter((run) => run !== ''),
    input: input !== null && readJson(input).kind === 'ok' ? input : null,
    find: hidden.get('find') || null,
    panel: panels.find((panel) => panel === query.get('panel')) ?? null,
    source: sources.find((source) => source === query.get('of')) ?? 'cases',
    nodes: query.get('view') === 'nodes',
    batch: query.get('batch') || null,
    item: query.get('item') || null,
    caseName: query.get('case') || null,
  };
}

/** The address of a place, beginning with `?` or `#`, or empty. */
export function printPlace({ app, ruleId, confId, target, ts, run, runs, input, find, ...below }: Place): string {
  const pairs: [string, string | null][] = [
    ['app', app],
    ['rule', ruleId],
    ['node', confId],
    ['target', target.kind === 'all' ? null : printTarget(target)],
    ['ts', ts],
    ['run', run],
    ['runs', runs.length === 0 ? null : runs.join(',')],
    ['panel', below.panel],
    ['of', below.source === 'cases' ? null : below.source],
    ['view', below.nodes ? 'nodes' : null],
    ['batch', below.batch],
    ['item', below.item],
    ['case', below.caseName],
  ];
  const query = pairs.flatMap(([name, value]) => (value === null ? [] : `${name}=${encode(value)}`)).join('&');
  const linked = input === null ? null : linkedInput(input);
  const hidden = [
    ...(linked === null ? [] : [`input=${encode(linked)}`]),
    ...(find === null ? [] : [`find=${encode(find)}`]),
  ].join('&');
  return `${query === '' ? '' : `?${query}`}${hidden === '' ? '' : `#${hidden}`}`;
}

/** Whether a link can carry this input, given as its text and as it was read. */
export function fitsLink(text: string, read: ReadJson): boolean {
  if (text.length > MANY_SPACES * MAX_LINKED_INPUT) return false;
  return read.kind === 'ok' && (text.length <= MAX_LINKED_INPUT || compactJson(read.root).length <= MAX_LINKED_INPUT);
}

/** The input as a link carries it; null when it is no JSON or too long. */
function linkedInput(input: string): string | null {
  if (input.length > MANY_SPACES * MAX_LINKED_INPUT) return null;
  const read = readJson(input);
  if (read.kind === 'bad') return null;
  const compact = compactJson(read.root);
  return compact.length > MAX_LINKED_INPUT ? null : compact;
}

export function readTarget(text: string): Target {
  if (text === 'each') return { kind: 'each' };
  return namedTarget(text)?.target ?? { kind: 'all' };
}

/** The target as calls have it; `each` is this page's own word. */
export function printTarget(target: Target): string {
  return target.kind === 'each' ? 'each' : formatTarget(target);
}

/** A colon, a comma and a slash need no escape in a query, and addresses are easier to read with them. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:3A|2C|2F)/g, decodeURIComponent);
}

function id(text: string | null): string | null {
  return text !== null && /^[1-9]\d{0,18}$/.test(text) ? text : null;
}

const listeners = new Set<() => void>();
let current: { address: string; place: Place } | undefined;

function place(): Place {
  const address = window.location.search + window.location.hash;
  if (current?.address !== address)
    current = { address, place: readPlace(window.location.search, window.location.hash) };
  return current.place;
}

const leaving = new Set<() => void>();

/** Runs a task before the back button gets a place to return to: what is not in the address yet would be missing there. */
export function beforePush(task: () => void): () => void {
  leaving.add(task);
  return () => void leaving.delete(task);
}

/** The address of a place that differs from this one. */
export function hrefTo(change: Partial<Place>): string {
  return `${window.location.pathname}${printPlace(changed(place(), change))}`;
}

/** A place as a link to hand on. */
export const linkTo = (place: Place): string =>
  `${window.location.origin}${window.location.pathname}${printPlace(place)}`;

/** Goes to another place. `push`: the back button returns to where we were. */
export function goTo(change: Partial<Place>, { push = false }: { push?: boolean } = {}): void {
  if (push) for (const task of leaving) task();
  const next = hrefTo(change);
  if (next === window.location.pathname + window.location.search + window.location.hash) return;
  if (push) window.history.pushState(null, '', next);
  else window.history.replaceState(null, '', next);
  for (const listener of listeners) listener();
}

/** A batch and its cases are of one rule: another rule leaves them behind. */
function changed(now: Place, change: Partial<Place>): Place {
  const next = { ...now, ...change };
  const isSame = next.app === now.app && next.ruleId === now.ruleId && next.confId === now.confId;
  return isSame ? next : { ...next, batch: null, item: null, caseName: null, nodes: false, ...change };
}

/** A page without what was open on another one; the rule keeps the run that is on the screen. */
export function toPage(panel: Panel | null): Partial<Place> {
  return { panel, source: 'cases', nodes: false, batch: null, item: null, caseName: null, runs: [] };
}

/** The tests with inputs of a source, before any batch of them is chosen. */
export function toTests(source: Source): Partial<Place> {
  return { ...toPage('tests'), source };
}

const arrivals: { count: number; last: Event | null } = { count: 1, last: null };

/** Counts how often the address came from elsewhere: a link that was opened, a reload, Back and Forward. */
export function useArrivals(): number {
  return useSyncExternalStore(subscribe, () => arrivals.count);
}

/** The place in the address bar, kept in step with it. */
export function usePlace(): Place {
  return useSyncExternalStore(subscribe, place);
}

function subscribe(listener: () => void): () => void {
  const arrive = (event: Event) => {
    if (event !== arrivals.last) arrivals.count++;
    arrivals.last = event;
    listener();
  };
  listeners.add(listener);
  window.addEventListener('popstate', arrive);
  window.addEventListener('hashchange', arrive);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('popstate', arrive);
    window.removeEventListener('hashchange', arrive);
  };
}
