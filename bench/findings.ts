import { appendFileSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Failures } from './failures.ts';
import { type GoalName, goals } from './goals.ts';

const goalSchema = z.custom<GoalName>((name) => typeof name === 'string' && name in goals);
const findingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('measured'), goal: goalSchema, value: z.number(), beside: z.string() }),
  z.object({ kind: z.literal('left-out'), goal: goalSchema, why: z.string() }),
  z.object({ kind: z.literal('failed'), what: z.string(), times: z.number(), why: z.string() }),
]);
/** What a part of the bench found: a number that has a goal, why there is none, or calls that failed. */
export type Finding = z.infer<typeof findingSchema>;

/** The parts are processes of their own; `npm run bench` names the file that they write to. One that runs alone prints only. */
export const FINDINGS_FILE = 'BENCH_FINDINGS';

export function readFindings(path: string): Finding[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => findingSchema.parse(JSON.parse(line)));
}

/** Puts a number into the table. `beside`: what a reader needs to judge it. */
export function tellMeasured(goal: GoalName, value: number, beside = ''): void {
  if (Number.isFinite(value)) write({ kind: 'measured', goal, value, beside });
  else tellLeftOut([goal], 'no call was answered');
}

/** Puts into the table why there is no number. */
export function tellLeftOut(left: readonly GoalName[], why: string): void {
  console.log(`Left out: ${why}`);
  for (const goal of left) write({ kind: 'left-out', goal, why });
}

/** Keeps failed calls for the end of the run, and returns how a line of the part says it. */
export function tellFailures(what: string, { failed, why }: Failures): string {
  if (failed === 0) return '0 failed';
  write({ kind: 'failed', what, times: failed, why });
  return `${failed} failed: ${why}`;
}

function write(finding: Finding): void {
  const path = process.env[FINDINGS_FILE];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(finding)}\n`);
}
