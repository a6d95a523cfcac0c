import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '../support/deadline.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import type { ApiProcess } from '../support/start-process.ts';
import { type Deeds, playing } from './play-client.ts';
import { type CallPlan, RESULT_TIMEOUT_MS, type Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** Its time in the queue, the client's, what an API waits beyond that, and the longest a process sleeps. */
const ENDS_WITHIN_MS = 90_000;

/** What came of one call. */
export type Played = {
  plan: CallPlan;
  number: number;
  /** The number that must come back, as text. */
  exact: string;
  deeds: Deeds;
  /** `hung up`: by its caller. `cut off`: because its API was killed. */
  answer: Answer | 'hung up' | 'cut off';
  /** What came of the same call once more, under the same Idempotency-Key. */
  again?: Answer | 'hung up' | 'cut off';
  /** What the service said to the wish to cancel it. */
  cancelled?: number;
  /** What the list of executions says of it in the end, if it is there. */
  record?: Recorded;
};

export type Recorded = {
  mockId: string;
  state: string;
  history: { state: string; at: number }[];
  outcome: { status: number; code: string | null; mayHaveRun: boolean } | null;
};

let numbers = 0;

/** Plays a scenario in a world, until every call has ended and nothing is open any more. */
export async function playScenario(world: World, { calls, actions }: Scenario): Promise<Played[]> {
  const first = numbers + 1;
  numbers += calls.length;
  const deeds = new Map<number, Deeds>();
  const deedsOf = (number: number) => {
    const known = deeds.get(number) ?? { found: [], ran: [] };
    deeds.set(number, known);
    return known;
  };
  const does = playing((number) => calls[number - first]?.play, deedsOf);
  const { sharedDir } = world.processes;
  const clients: Responder[] = [];
  const clientOf = async (app: number) => {
    clients.push(await createResponder({ sharedDir, app, does, lookEveryMs: 15 }));
    return app;
  };
  const shared = await clientOf(first);
  const apps = await Promise.all(
    calls.map(({ play }, at) => (play.kind.startsWith('leaves') ? clientOf(1_000_000 + first + at) : shared)),
  );

  const one = async (plan: CallPlan, at: number): Promise<Played> => {
    await delay(plan.atMs);
    const number = first + at;
    const exact = String(9_007_199_254_740_993n + BigInt(number));
    const asked = { app: apps[at] ?? shared, number, exact };
    const [answer, cancelled, again] = await Promise.all([
      begin(await world.api(plan.api), plan, asked),
      plan.caller.kind === 'cancels' ? cancel(world, number, plan.caller.afterMs) : undefined,
      plan.caller.kind === 'calls twice' ? callAgain(world, plan, asked) : undefined,
    ]);
    const more = { ...(cancelled !== undefined && { cancelled }), ...(again !== undefined && { again }) };
    return { plan, number, exact, deeds: deedsOf(number), answer, ...more };
  };
  const acting = actions.map(async (action) => {
    await delay(action.atMs);
    await world.act(action);
  });
  try {
    const played = await Promise.all(calls.map(one));
    await Promise.all(acting);
    await world.mend();
    await nothingIsOpen(world, played);
    return await Promise.all(played.map((call) => withRecord(world, call)));
  } finally {
    await Promise.allSettled(acting);
    await Promise.all(clients.map((client) => client.stop()));
  }
}

type Asked = { app: number; number: number; exact: string };

async function begin(api: ApiProcess, { caller }: CallPlan, { app, number, exact }: Asked): Promise<Played['answer']> {
  const leaves = caller.kind === 'hangs up' ? AbortSignal.timeout(caller.afterMs) : undefined;
  const call = httpCall(`${api.url}/rule-server/mock/execute`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(caller.kind === 'calls twice' && { 'idempotency-key': `call ${number}` }),
    },
    body: `{"app":${app},"ruleId":${number},"the service":{"exact":${exact}}}`,
    ...(leaves && { signal: leaves }),
  });
  const answer = call.catch(async (error): Promise<'hung up' | 'cut off'> => {
    if (leaves?.aborted) return 'hung up';
    // The connection of a process that was killed ends a moment before anybody hears that it was.
    return eventually(() => {
      if (api.isRunning) throw error;
      return 'cut off';
    }, 10_000);
  });
  return withDeadline(answer, ENDS_WITHIN_MS, `call ${number}`);
}

async function callAgain(world: World, plan: CallPlan, asked: Asked): Promise<Played['answer']> {
  await delay(plan.caller.kind === 'calls twice' ? plan.caller.afterMs : 0);
  return begin(await world.api(plan.api + 1), plan, asked);
}

/** Like somebody who sees an execution in the list and stops it, through whichever API answers. */
async function cancel(world: World, number: number, afterMs: number): Promise<number | undefined> {
  await delay(afterMs);
  const base = `${(await world.api(number)).url}/rule-server/mock/executions`;
  const found = await httpCall(`${base}?ruleId=${number}`).catch(() => undefined);
  const mockId = found?.json?.items?.[0]?.mockId;
  if (mockId === undefined) return undefined;
  return (await httpCall(`${base}/${mockId}`, { method: 'DELETE' }).catch(() => undefined))?.status;
}

/** No execution is open in the queue, and no worker waits for one that the queue has forgotten. */
async function nothingIsOpen(world: World, played: Played[]): Promise<void> {
  await eventually(async () => {
    const { status, json } = await httpCall(`${(await world.api(0)).url}/rule-server/mock/executions?limit=100`);
    const open = json?.items?.filter(({ outcome }: { outcome: unknown }) => outcome === null);
    if (status !== 200 || open.length > 0) throw new Error(`still open: ${status} ${JSON.stringify(open)}`);
  }, 60_000);
  const lastDeadline = Math.max(0, ...played.map(({ deeds }) => (deeds.createdAt ?? 0) + RESULT_TIMEOUT_MS));
  await delay(Math.max(0, lastDeadline + 500 - Date.now()));
}

async function withRecord(world: World, call: Played): Promise<Played> {
  const { json } = await httpCall(`${(await world.api(0)).url}/rule-server/mock/executions?ruleId=${call.number}`);
  const [record] = json.items;
  return { ...call, ...(record && { record }) };
}
