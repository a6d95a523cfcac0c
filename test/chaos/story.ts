import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDice } from '../simulator/search/dice.ts';
import type { Answer } from '../support/http-call.ts';
import { type Entry, readStory } from './verdict.ts';

const FOLDER = join(tmpdir(), 'rule-server-chaos');
const newSeed = () => Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);

export type Story = ReturnType<typeof openStory>;

/**
 * Writes down what happens in an experiment, line by line: faults, calls, their answers, and what the client found and wrote. The
 * verdict is computed from that file alone. `honest`: see the entry. The file is removed when the test passes; otherwise its path is printed, and
 * `node test/chaos/judge.ts FILE` judges it again. All chance of the experiment comes from its seed (`CHAOS_SEED`).
 */
export function openStory(what: string, { honest }: { honest?: readonly string[] } = {}) {
  const seed = newSeed();
  const dice = createDice(seed);
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${what.replace(/\W+/g, '-').slice(0, 60)}-${seed}-${process.pid}.jsonl`);
  const write = (entry: Entry) => appendFileSync(path, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  write({ kind: 'experiment', what, seed, ...(honest && { honest }) });
  onTestFinished(({ task }) => {
    if ((task.result?.errors ?? []).length === 0) rmSync(path);
    else console.error(`The calls and faults of this experiment are in ${path}: node test/chaos/judge.ts ${path}`);
  });

  return {
    dice,
    /** `forgets`: the queue store may lose its last writes. `at`: when it was, if not now. */
    fault: (fault: string, phase: 'begins' | 'ends', { forgets = false, at = Date.now() } = {}) =>
      write({ at, kind: 'fault', fault, phase, forgets }),
    found: (mockId: string, number: number) => write({ kind: 'found', mockId, number }),
    ran: (number: number) => write({ kind: 'ran', number }),
    wrote: (number: number) => write({ kind: 'wrote', number }),
    /** Makes a call and writes down both ends of it. `isUncertain`: whether its key may have been forgotten meanwhile. */
    async call(number: number, make: () => Promise<Answer>, isUncertain: () => boolean = () => false): Promise<Answer> {
      const began = performance.now();
      write({ kind: 'called', number });
      const ended = (status: number, json: Answer['json']) =>
        write({
          ...{ kind: 'answered' as const, number, ms: Math.round(performance.now() - began), status },
          ...{ own: json['the service']?.number ?? null, code: json.code ?? null, mayHaveRun: json.mayHaveRun ?? null },
          ...{ mockId: json.mockId ?? null, error: json.error ?? null, uncertain: isUncertain() },
        });
      try {
        const answer = await make();
        ended(answer.status, answer.json);
        return answer;
      } catch (error) {
        ended(0, { error: String(error) });
        throw error;
      }
    },
    /** What is written so far. */
    entries: () => readStory(path),
  };
}
