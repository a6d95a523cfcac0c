import { type Case, expectText } from '../../shared/cases/case.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { JsonText, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { typedNumber } from '../terminal/typed-number.ts';
import type { Suite } from './suite.ts';

/** How the cases of a suite are to be run. */
export type RunOptions = { target?: string[]; concurrency?: string; bail?: boolean; dryRun?: boolean; json?: boolean };

/** The body of a batch, every number as it is written in the document. Saved cases are named, unless only some are run. */
export function batchRequest(
  { origin, app, ruleId, confId, cases, run, ignore }: Suite,
  { target = [], concurrency, bail = false, dryRun = false }: RunOptions,
): string {
  const isWhole = origin.kind === 'saved' && run.length === cases.length;
  return stringifyExact({
    ...{ app: number(app), ruleId: number(ruleId), confId: number(confId) },
    targets: target.length === 0 ? ['all'] : target,
    ...(isWhole ? { saved: true } : { cases: run.map(caseBody) }),
    ...{ concurrency: number(concurrency), stopAfterFailures: bail ? 1 : null, ignore, dryRun },
    file: origin.kind === 'file' ? origin.path : null,
  });
}

const number = (text: string | null | undefined) => (text == null ? null : new JsonText(typedNumber(text)));

function caseBody({ input, ts, expect, ...one }: Case) {
  const [data, expected] = [input, expectText(expect) ?? 'null'].map((text) => new JsonText(text));
  return { ...one, [DATA_FIELD]: data, ts: number(ts), expect: expected };
}
