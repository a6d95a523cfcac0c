import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { Ending, ReadResult } from '../../shared/contract/endings/ending.ts';
import { errorOf, type NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import { joinMembers, scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Call } from '../calls/submit-execution.ts';
import { envelope, OTHER_ERROR, refusal } from './envelope.ts';

const TIMEOUT = 'timeout waiting for client response';

/** The published server's form of an ending. What it has no member for goes into `error`. */
export function iceAnswer({ mockId, request: { target } }: Call, ending: Ending<ReadResult>): Response {
  if (ending.kind === 'answered') return envelope(inTheirNames(ending.result.body));
  const { noAnswer } = ending;
  switch (noAnswer.code) {
    case 'bad-request':
      return refusal(OTHER_ERROR, sentenceOf(noAnswer));
    case 'no-client':
    case 'client-offline':
      return target.kind === 'address'
        ? failed({ mockId: '', error: sentenceOf(noAnswer), fallback: true, executeAt: 0 })
        : refusal(OTHER_ERROR, sentenceOf(noAnswer));
    case 'not-picked-up':
      return failed({ mockId, error: `${TIMEOUT}: ${sentenceOf(noAnswer)}`, executeAt: noAnswer.executeAt });
    default:
      return failed({ mockId, error: sentenceOf(noAnswer), executeAt: noAnswer.executeAt });
  }
}

/** The published page gives up before our deadlines. */
export function timedOut(mockId: string): Response {
  return failed({ mockId, error: TIMEOUT, executeAt: Date.now() });
}

/** The client's answer with `roam` as the name of the data, and without null members, as the SDKs write it. */
function inTheirNames(body: string): string {
  const scanned = scanJson(body);
  if (scanned.kind !== 'complete') return body; // a worker has judged it
  const members = scanned.members.filter(({ kind }) => kind !== 'null');
  return joinMembers(members.map(({ key, raw }) => [key === DATA_FIELD ? 'roam' : key, raw]));
}

function sentenceOf(noAnswer: NoAnswer): string {
  return `${errorOf(noAnswer)} [${noAnswer.code}]`;
}

function failed({ mockId, ...rest }: { mockId: string; error: string; fallback?: true; executeAt: number }): Response {
  return envelope(JSON.stringify({ mockId, success: false, ...rest }));
}
