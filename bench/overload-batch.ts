import { z } from 'zod';

const begunSchema = z.object({ batchId: z.string() });
const readSchema = z.object({ counts: z.object({ pending: z.int() }) });

export type Batch = {
  /** Cancels it, if it has not ended. Resolves to how many of its items had ended when it was asked. */
  end(): Promise<number>;
};

/** Begins a batch of so many cases for all clients, as fast as it may go: what callers share the workers with. */
export async function beginBatch(url: string, count: number): Promise<Batch> {
  const path = `${url}/rule-server/mock/batches`;
  const cases = Array.from({ length: count }, (_, uid) => ({ 'the service': { uid, cost: 120 } }));
  const body = JSON.stringify({ app: 1, ruleId: 1, targets: ['all'], concurrency: 50, cases });
  const begun = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (begun.status !== 202) throw new Error(`the batch was refused: ${begun.status} ${await begun.text()}`);
  const { batchId } = begunSchema.parse(await begun.json());
  return {
    async end(): Promise<number> {
      const { counts } = readSchema.parse(await (await fetch(`${path}/${batchId}`)).json());
      await (await fetch(`${path}/${batchId}`, { method: 'DELETE' })).arrayBuffer();
      return count - counts.pending;
    },
  };
}
