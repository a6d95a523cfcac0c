import { parseTarget } from '../../shared/contract/target.ts';
import { type Chosen, goesOn, pause, type TargetRun } from './target-run.ts';

const ASK_AGAIN_MS = 25;

/** Waits until a client may have one more item; null when the target is stopped meanwhile. */
export async function permit(self: TargetRun, mockId: string): Promise<Chosen | null> {
  const { store, run } = self;
  while (goesOn(self)) {
    const chosen = await choose(self);
    const held = { client: chosen.key, batchId: run.batch.batchId, mockId };
    if (!(await store.acquire({ ...held, limit: chosen.limit }))) await pause(self, ASK_AGAIN_MS);
    else if (goesOn(self)) return chosen;
    else await store.release(held); // the item before it has stopped the target meanwhile
  }
  return null;
}

async function choose({ run, target, resolveTarget, pace }: TargetRun): Promise<Chosen> {
  const { app, ruleId, confId, concurrency } = run.batch;
  const parsed = parseTarget(target);
  const key = `${app}|${target}`;
  const anybody = { key, paceKey: key, target, address: null, limit: concurrency };
  if (parsed.kind === 'malformed') return anybody;
  const resolved = await resolveTarget(app, parsed);
  if (resolved.kind === 'refused') return anybody; // the execution will be told why
  resolved.uncount();
  const { address } = resolved.client;
  const atClient = `${app}|${address}`;
  // A rule nobody knows begins alone: it may end its client's process, whatever other rules did there.
  const paceKey = `${atClient}|${ruleId}|${confId}`;
  const limit = pace.limitFor(resolved.client, paceKey, concurrency);
  return { key: atClient, paceKey, target: `address:${address}`, address, limit };
}
