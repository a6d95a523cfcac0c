import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { unless } from '../../src/shared/runtime/errno.ts';
import { createResponder, type FoundRequest, put, type Responder, resultText } from '../support/responder.ts';
import type { MishapCall } from './mishap.ts';

/** The client of one call. `awayMs`: how long its registration really was away. */
export type MishapClient = { found: FoundRequest[]; awayMs: number; stop(): Promise<void> };

/** Starts a client that answers its one call, after the trouble that is planned for it. */
export async function startMishapClient(sharedDir: string, app: number, plan: MishapCall): Promise<MishapClient> {
  const state = { awayMs: 0 };
  const responder = await createResponder({
    sharedDir,
    app,
    lookEveryMs: 15,
    async does(request, own) {
      await request.pickUp();
      if (plan.awayMs !== null) state.awayMs = await registerAnew(own, plan.awayMs);
      await delay(plan.afterMs);
      await answer(request, plan.hiddenMs);
    },
  });
  const beside = plan.besideUnwritable ? await unwritableClient(sharedDir, app) : undefined;
  return {
    found: responder.found,
    get awayMs() {
      return state.awayMs;
    },
    async stop() {
      await Promise.all([responder.stop(), beside?.stop()]);
      if (beside) await chmod(beside.directory, 0o755);
    },
  };
}

async function registerAnew({ registrationPath }: Responder, ms: number): Promise<number> {
  const text = await readFile(registrationPath, 'utf8');
  const startedAt = performance.now();
  await rm(registrationPath);
  await delay(ms);
  await put(registrationPath, text);
  return performance.now() - startedAt;
}

/** Sets the mode after the rename, as a client does that copies its result from elsewhere. */
async function answer(request: FoundRequest, hiddenMs: number | null): Promise<void> {
  const data = /"the service":(\{[^}]*\})/.exec(request.text)?.[1] ?? '{}';
  const text = resultText(request, { 'the service': undefined }).replace(/\}$/, `,"the service":${data}}`);
  if (hiddenMs === null) return request.answer(text);
  await request.answer(text, 0);
  await delay(hiddenMs);
  await chmod(request.resultPath, 0o644).catch(unless('ENOENT'));
}

async function unwritableClient(sharedDir: string, app: number): Promise<Responder> {
  const responder = await createResponder({ sharedDir, app, does: () => {} });
  await mkdir(responder.directory, { recursive: true });
  await chmod(responder.directory, 0o555);
  return responder;
}
