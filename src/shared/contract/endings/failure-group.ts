import { isCause } from '../../reasons/causes.ts';
import type { Params } from '../../reasons/template.ts';
import { whatHappened } from '../../reasons/words.ts';
import { isEndState, type State } from './states.ts';

/**
 * Failures that are alike: the code and the reason of how the execution ended, with its causes. Where a client failed there is no reason,
 * and `sentence` is its error without what differs from one to the next.
 */
export type FailureGroup = { code: string; reason: string | null; params: Params; sentence: string };

type Ended = {
  state: State;
  ending: { code: string | null; reason: string | null; params: Params } | null;
  address: string | null;
  error?: string | null | undefined;
};

const NO_FAILURE = new Set<State>(['succeeded', 'cancelled']);

/** The group that an execution belongs to; null when it did not fail. */
export function failureGroupOf({ state, ending, address, error }: Ended): FailureGroup | null {
  if (!isEndState(state) || NO_FAILURE.has(state)) return null;
  const code = ending?.code ?? state;
  if (ending?.reason == null) return { code, reason: null, params: {}, sentence: alike(error ?? '', address) };
  const { reason } = ending;
  const params = general(ending.params);
  return { code, reason, params, sentence: whatHappened({ reason, params }) };
}

/** The parameters in a form that many failures share: only causes stay. */
function general(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, isCause(name, value) ? value : `<${name}>`]),
  );
}

const IDS = /\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi;
const QUOTED = /"[^"]*"|“[^”]*”|'[^']*'(?![a-z])|`[^`]*`/g;
const NUMBERS = /-?\b\d[\d.,:]*(?:e[+-]?\d+)?\b/gi;

/** The part of a client's error that is compared. Unclosed quotes cost the square of this length. */
const COMPARED_CHARACTERS = 2000;

/** A client's error with its client, ids, quoted values and numbers replaced. */
function alike(whole: string, address: string | null): string {
  const sentence = whole.length > COMPARED_CHARACTERS ? `${whole.slice(0, COMPARED_CHARACTERS)}…` : whole;
  const general = address === null ? sentence : sentence.replaceAll(address, '<client>');
  return general.replace(IDS, '<id>').replace(QUOTED, '<value>').replace(NUMBERS, '<number>');
}
