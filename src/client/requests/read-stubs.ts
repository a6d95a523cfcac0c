import { type ExactValue, isExactObject } from '../../shared/contract/json/raw-number.ts';
import type { Stub, Stubs } from '../engine/dry-run.ts';

const STATES = ['TRUE', 'FALSE', 'NONE'] as const;

/** Stubs by node, as a request has them: `{ "7": "TRUE", "9": { "outcome": "NONE", "set": { "points": 3 } } }`. Throws for what is none. */
export function readStubs(given: ExactValue): Stubs {
  if (!isExactObject(given)) throw new TypeError('stub must be an object');
  return new Map(Object.entries(given).map(([id, stub]) => [BigInt(id), stubOf(id, stub)]));
}

function stubOf(id: string, given: ExactValue): Stub {
  const { outcome, set = {} } = isExactObject(given) ? given : { outcome: given };
  const state = STATES.find((known) => known === outcome);
  if (state === undefined) throw new TypeError(`stub.${id} must be TRUE, FALSE or NONE`);
  if (!isExactObject(set)) throw new TypeError(`stub.${id}.set must be an object`);
  return { outcome: state, set };
}
