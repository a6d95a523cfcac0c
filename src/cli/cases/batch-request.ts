import type { Case } from '../../shared/cases/case.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { typedNumber } from '../terminal/typed-number.ts';
import type { Suite } from './suite.ts';

type RunOptions = { target?: string[]; concurrency?: string; bail?: boolean; dryRun?: boolean };

/** The body of a batch, every number as it is written in the document. Saved cases are named, unless only some are run. */
export function batchRequest(
  suite: Suite,
  { target = [], concurrency, bail = false, dryRun = false }: RunOptions,
): string {
  const isWhole = suite.origin.kind === 'saved' && suite.run.length === suite.cases.length;
  return joinMembers([
    ['app', typedNumber(suite.app)],
    ...optional('ruleId', suite.ruleId, typedNumber),
    ...optional('confId', suite.confId, typedNumber),
    ['targets', JSON.stringify(target.length === 0 ? ['all'] : target)],
    ...(isWhole ? [['saved', 'true'] as const] : [['cases', `[${suite.run.map(caseJson).join(',')}]`] as const]),
    ...optional('concurrency', concurrency ?? null, typedNumber),
    ...(bail ? [['stopAfterFailures', '1'] as const] : []),
    ...(suite.ignore.length > 0 ? [['ignore', JSON.stringify(suite.ignore)] as const] : []),
    ...(dryRun ? [['dryRun', 'true'] as const] : []),
    ...(suite.origin.kind === 'file' ? [['file', JSON.stringify(suite.origin.path)] as const] : []),
  ]);
}

function caseJson({ name, input, ts, tags, skip, line, expect }: Case): string {
  const { data, ...rest } = expect ?? {};
  const parts = Object.entries(rest).map(([key, value]): [string, string] => [key, JSON.stringify(value)]);
  return joinMembers([
    ['name', JSON.stringify(name)],
    [DATA_FIELD, input],
    ...optional('ts', ts, String),
    ['tags', JSON.stringify(tags)],
    ['skip', String(skip)],
    ...optional('line', line, String),
    ...(expect ? [['expect', joinMembers([...parts, ...optional('data', data ?? null, String)])] as const] : []),
  ]);
}

function optional<T>(name: string, value: T | null, print: (value: T) => string): [string, string][] {
  return value === null ? [] : [[name, print(value)]];
}
