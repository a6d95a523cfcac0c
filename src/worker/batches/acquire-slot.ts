import { parseTarget } from '../../shared/contract/target.ts';
import { suitsOf } from '../placement/resolve-target.ts';
import { type Chosen, goesOn, pause, type TargetRun } from './target-run.ts';

const ASK_AGAIN_MS = 25;
/** How often a batch that gives way to callers checks whether it may send an item. */
const GIVE_WAY_MS = 100;

type Wanted = { mockId: string; input: string; target: string; isDry: boolean };

/** Waits until a client of the target may have one more run of this input; null when the run is stopped meanwhile. */
export async function acquireSlot(self: TargetRun, { mockId, input, target, isDry }: Wanted): Promise<Chosen | null> {
  const { slots } = self.run;
  const suits = suitsOf(input, isDry);
  while (goesOn(self)) {
    if (!self.giveWay.maySend()) {
      await pause(self, GIVE_WAY_MS);
      continue;
    }
    const chosen = await choose(self, target, suits);
    if (!(await slots.acquire(chosen.key, mockId, chosen.limit))) await pause(self, ASK_AGAIN_MS);
    else if (goesOn(self)) {
      self.giveWay.sent();
      return chosen;
    } else await slots.release(chosen.key, mockId); // the previous item stopped the target meanwhile
  }
  return null;
}

async function choose(
  { run, resolveTarget, pace }: TargetRun,
  target: string,
  suits: ReturnType<typeof suitsOf>,
): Promise<Chosen> {
  const { app, ruleId, confId, concurrency } = run.batch;
  const parsed = parseTarget(target);
  const key = `${app}|${target}`;
  const anybody = { key, paceKey: key, target, address: null, limit: concurrency };
  if (parsed.kind === 'malformed') return anybody;
  const resolved = await resolveTarget(app, parsed, { tried: new Set(), suits });
  if (resolved.kind === 'refused') return anybody; // the execution then ends with the reason
  const { address } = resolved.client;
  const atClient = `${app}|${address}`;
  // An unknown rule first runs alone, because it may crash its client.
  const paceKey = `${atClient}|${ruleId}|${confId}`;
  const limit = pace.limitFor(resolved.client, paceKey, concurrency);
  return { key: atClient, paceKey, target: `address:${address}`, address, limit };
}
