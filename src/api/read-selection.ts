import type { Problem } from './read-request.ts';

/** What a query string selects. Empty parameters are absent, unknown ones are ignored. */
export type Selected = {
  app: number;
  ruleId: string | null;
  confId: string | null;
  lane: string | null;
  address: string | null;
};
export type ReadSelection = { kind: 'selected'; selected: Selected } | { kind: 'bad'; problems: Problem[] };

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** Reads `app` alone. */
export function readApp(
  parameters: Record<string, string>,
): { kind: 'app'; app: number } | { kind: 'bad'; problems: Problem[] } {
  const app = integer(parameters.app, INT32_MAX);
  if (app !== 'bad' && app !== null) return { kind: 'app', app: Number(app) };
  return { kind: 'bad', problems: [{ field: 'app', message: `must be an integer from 1 to ${INT32_MAX}` }] };
}

/** Reads `app`, `ruleId`, `confId`, `lane` and `address`; one of the ids must be there. A 0 is no id. */
export function readSelection(parameters: Record<string, string>): ReadSelection {
  const problems: Problem[] = [];
  const app = readApp(parameters);
  if (app.kind === 'bad') problems.push(...app.problems);
  const [ruleId, confId] = [integer(parameters.ruleId, INT64_MAX), integer(parameters.confId, INT64_MAX)];
  for (const [field, id] of Object.entries({ ruleId, confId })) {
    if (id === 'bad') problems.push({ field, message: `must be an integer from 1 to ${INT64_MAX}` });
  }
  if (ruleId === null && confId === null) problems.push({ field: 'ruleId', message: 'give ruleId or confId' });
  if (problems.length > 0 || app.kind === 'bad' || ruleId === 'bad' || confId === 'bad')
    return { kind: 'bad', problems };
  return {
    kind: 'selected',
    selected: { app: app.app, ruleId, confId, lane: text(parameters.lane), address: text(parameters.address) },
  };
}

function integer(given: string | undefined, max: bigint): string | null | 'bad' {
  if (given === undefined || given === '') return null;
  if (!/^\d{1,30}$/.test(given) || BigInt(given) > max) return 'bad';
  return BigInt(given) === 0n ? null : BigInt(given).toString();
}

function text(given: string | undefined): string | null {
  return given === undefined || given === '' ? null : given;
}
