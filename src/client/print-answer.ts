import { randomInt } from 'node:crypto';
import { DATA_FIELD } from '../shared/contract/data-field.ts';
import { joinMembers } from '../shared/contract/json/exact-json.ts';
import { stringifyExact } from '../shared/contract/json/raw-number.ts';
import { messageOf } from './engine/evaluate.ts';
import type { Ending, Execution } from './engine/execution.ts';
import { printSteps } from './engine/print-steps.ts';
import { PUBLISHED_DATA_FIELD } from './requests/take-request.ts';

/** The rules that ran: the version, and the digest where there was something to run. */
type RulesThatRan = { version: bigint; digest: string | null };

type Member = [key: string, raw: string];
type Ended = { mockId: string; executeAt: number; rules: RulesThatRan; execution: Execution; ending: Ending };

/**
 * A result file's text: the six members of the interface, then what else a reader may want. A failed run tells its trace and
 * its data as far as they came.
 */
export function printAnswer({ mockId, executeAt, rules, execution, ending }: Ended): string {
  const { run, leftOut } = execution;
  const error = ending.kind === 'failed' ? JSON.stringify(messageOf(ending.error)) : 'null';
  const members: Member[] = [
    ['mockId', JSON.stringify(mockId)],
    ['success', String(ending.kind === 'done')],
    [DATA_FIELD, stringifyExact(run.store.root)],
    ['process', JSON.stringify(run.process())],
    ['error', error],
    ['executeAt', String(executeAt)],
    ['ts', String(run.ts)],
    ['outcome', ending.kind === 'done' && ending.outcome !== null ? `"${ending.outcome}"` : 'null'],
  ];
  const { version, digest } = rules;
  if (digest !== null) members.push(['rules', stringifyExact({ version, digest })]);
  if (run.dryRun) members.push(['dryRun', 'true'], ['effects', stringifyExact(run.dryRun.effects())]);
  if (leftOut.length > 0) members.push(['warnings', JSON.stringify(leftOut)]);
  if (run.steps) {
    members.push(['steps', printSteps(run.steps.list)]);
    if (run.steps.notRecorded() > 0) members.push(['stepsNotRecorded', String(run.steps.notRecorded())]);
  }
  return joinMembers(members);
}

/**
 * The answer in the names of the published server's Mock. As those of the published clients, it has data only when the run
 * succeeded, and a new id as `trace`.
 */
export function printPublished({ mockId, executeAt, execution: { run }, ending }: Ended): string {
  const hasFailed = ending.kind === 'failed';
  return joinMembers([
    ['mockId', JSON.stringify(mockId)],
    ['executeAt', String(executeAt)],
    ['success', String(!hasFailed)],
    ...(hasFailed ? [['error', JSON.stringify(messageOf(ending.error))] as Member] : []),
    ['trace', JSON.stringify(newTrace())],
    ['ts', String(run.ts)],
    ...(hasFailed ? [] : [[PUBLISHED_DATA_FIELD, stringifyExact(run.store.root)] as Member]),
    ['process', JSON.stringify(run.process())],
  ]);
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const newTrace = (): string => Array.from({ length: 11 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
