import { type TextFault, textFault } from '../reasons/text-faults.ts';
import { hasUnseen, visible } from './json/visible-text.ts';

/**
 * The place where an execution should run: anywhere, in a lane, or at one address.
 *
 * A new kind is added in this file; help, OpenAPI and refusals take its form from here. Then tsc names the rest: in the worker
 * `resolve-target.ts`; of the page `run/calls.ts`, `run/headline.ts`, `screen/frame/use-rule.ts`, and `run-bar.tsx`, `target.tsx` in
 * `screen/input`. These it does not name: `begin.ts` and `ice-answer.ts` ask whether one client is meant, as does `use-run.ts` of the page,
 * whose `run/calls.ts` also offers what cases run on. `api/readiness/readiness.ts` asks for the tree of the trunk. `use-headline.ts` and
 * `history-table.tsx` have words for one kind. `console/public/early.js` reads the address before the page is there. The page has one more
 * kind of its own, each client (`console/state/location.ts`).
 */
export type Target = { kind: 'all' } | { kind: 'lane'; lane: string } | { kind: 'address'; address: string };

const FORMS: Record<Target['kind'], string> = { all: 'all', lane: 'lane:<lane>', address: 'address:<address>' };
const WITH_NAME: Record<Exclude<Target['kind'], 'all'>, (name: string) => Target> = {
  lane: (lane) => ({ kind: 'lane', lane }),
  address: (address) => ({ kind: 'address', address }),
};

/** How each kind of target is written. */
export const targetForms: readonly string[] = Object.values(FORMS);
/** The form of each kind of target, as a regular expression. */
export const TARGET_PATTERN = targetForms.map((form) => form.replace(/<\w+>/, '.+')).join('|');
const targetOf = new Map(Object.entries(WITH_NAME));
const MAX_NAME_BYTES = 250;

/**
 * Reads a target. Whether the named lane or client exists is the worker's to say; only what no client can be called is
 * malformed.
 */
export function parseTarget(text: string): Target | { kind: 'malformed'; fault: TextFault } {
  if (text === '' || text === 'all') return { kind: 'all' };
  const named = namedTarget(text);
  if (!named)
    return malformed(
      textFault('target-form', { forms: targetForms.map((form) => `"${form}"`).join(', '), found: quoted(text) }),
    );
  const { target, name } = named;
  const { kind } = target;
  if (name === '') return malformed(textFault('target-nameless', { kind, form: FORMS[kind] }));
  if (hasUnseen(name)) return malformed(textFault('target-unseen', { kind, found: visible(quoted(name)) }));
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return malformed(textFault('target-too-long', { kind, maxBytes: MAX_NAME_BYTES }));
  if (kind === 'address' && name.split(/[/\\]/).some((part) => part === '' || part === '.' || part === '..')) {
    return malformed(textFault('target-path', { found: quoted(name) }));
  }
  return target;
}

/** A target that names something, whatever the name; undefined for a text of another form. */
export function namedTarget(text: string): { target: Target; name: string } | undefined {
  const colon = text.indexOf(':');
  const name = text.slice(colon + 1);
  const target = colon < 0 ? undefined : targetOf.get(text.slice(0, colon))?.(name);
  return target && { target, name };
}

/** The target as it is written in requests and request files. */
export function formatTarget(target: Target): string {
  switch (target.kind) {
    case 'all':
      return 'all';
    case 'lane':
      return `lane:${target.lane}`;
    case 'address':
      return `address:${target.address}`;
  }
}

/** Whether a client is one that a target allows. Which of these a call goes to is the worker's to say. */
export function isMeant(target: Target, { address, lane }: { address: string; lane: string | null }): boolean {
  switch (target.kind) {
    case 'all':
      return true;
    case 'lane':
      return lane === target.lane;
    case 'address':
      return address === target.address;
  }
}

/** The forms in a sentence: `all, lane:<lane> or address:<address>`, each between `quotes`. */
export function anyForm(quotes: string): string {
  const shown = targetForms.map((form) => `${quotes}${form}${quotes}`);
  return `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
}

function malformed(found: TextFault) {
  return { kind: 'malformed' as const, fault: found };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}
