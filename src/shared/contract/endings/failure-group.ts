import { isEndState, type State } from './states.ts';

/** Failures that are alike: `code` of how the execution ended, and `sentence` without what differs from one to the next. */
export type FailureGroup = { code: string; sentence: string };

type Ended = {
  state: State;
  outcome: { code: string | null } | null;
  address: string | null;
  error?: string | null | undefined;
};

const NO_FAILURE = new Set<State>(['succeeded', 'cancelled']);

/** The group that an execution belongs to; null when it did not fail. */
export function failureGroupOf({ state, outcome, address, error }: Ended): FailureGroup | null {
  if (!isEndState(state) || NO_FAILURE.has(state)) return null;
  return { code: outcome?.code ?? state, sentence: alike(error ?? '', address) };
}

const IDS = /\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi;
const QUOTED = /"[^"]*"|“[^”]*”|'[^']*'(?![a-z])|`[^`]*`/g;
const NUMBERS = /-?\b\d[\d.,:]*(?:e[+-]?\d+)?\b/gi;

/** The part of a sentence that is compared. Unclosed quotes cost the square of this length. */
const COMPARED_CHARACTERS = 2000;

/** A sentence with its client, ids, quoted values and numbers replaced. */
function alike(whole: string, address: string | null): string {
  const sentence = whole.length > COMPARED_CHARACTERS ? `${whole.slice(0, COMPARED_CHARACTERS)}…` : whole;
  const general = address === null ? sentence : sentence.replaceAll(address, '<client>');
  return general.replace(IDS, '<id>').replace(QUOTED, '<value>').replace(NUMBERS, '<number>');
}
