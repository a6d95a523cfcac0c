import { type Clock, type Finding, ok, warn } from './finding.ts';

/** The clock of an API is read to the second. */
const MAY_DIFFER_MS = 2000;

/** The wrong clock is the one that most of the others disagree with. */
export function checkClocks(others: Clock[]): Finding {
  const clocks: Clock[] = [{ whose: 'this machine', aheadMs: 0 }, ...others];
  const agreeing = clocks.map((clock) => clocks.filter((other) => agree(clock, other)));
  const most = agreeing.reduce((best, group) => (group.length > best.length ? group : best), []);
  const right = most[0]?.aheadMs ?? 0;
  const wrong = clocks.filter((clock) => !most.includes(clock));
  if (wrong.length === 0) return ok('clocks', `agree: ${listOf(clocks)}`);
  if (most.length <= wrong.length) return warn('clocks', `disagree: ${listOf(clocks, 0)}`, ADVICE);
  return warn('clocks', `wrong: ${listOf(wrong, right)}; ${listOf(most)} agree`, ADVICE);
}

const ADVICE =
  'Run NTP there, and restart what still has the old time. Nothing runs twice because of it, but calls may be refused.';

const agree = (a: Clock, b: Clock) => Math.abs(a.aheadMs - b.aheadMs) < MAY_DIFFER_MS;

function listOf(clocks: Clock[], right?: number): string {
  return clocks
    .map(({ whose, aheadMs }) => (right === undefined ? whose : `${whose} (${by(aheadMs - right)})`))
    .join(', ');
}

function by(aheadMs: number): string {
  return `${Math.abs(Math.round(aheadMs / 1000))} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
}
