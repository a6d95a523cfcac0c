import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Queue } from 'bullmq';
import { Hono } from 'hono';
import { z } from 'zod';

type BoardQueue = ConstructorParameters<typeof BullMQAdapter>[0];

/** The adapter's name says BullMQ on Redis, and it works on every backend. */
const isQueue = (queue: unknown): queue is BoardQueue => queue instanceof Queue;

/** `seesWorkers`: the queue store can tell which workers are connected. */
export type BoardOptions = { queues: unknown[]; seesWorkers: boolean };

const HIDDEN = { hidden: 'Inputs and results are shown with the execution.' };
const titled = z.object({
  name: z.string(),
  data: z.object({ app: z.int(), ruleId: z.string().nullish(), confId: z.string().nullish() }),
});

/** The queues as read-only pages under `basePath`, without the inputs and answers of executions. */
export function createQueueBoard(basePath: string, { queues, seesWorkers }: BoardOptions): Hono {
  const server = new HonoAdapter(serveStatic);
  server.setBasePath(basePath);
  createBullBoard({
    queues: queues.filter(isQueue).map(adapterOf),
    serverAdapter: server,
    options: {
      uiConfig: {
        boardTitle: 'Rule server queues',
        favIcon: { default: 'static/images/logo.svg', alternative: 'static/favicon-32x32.png' },
        hideDocsLink: true,
        showWorkers: seesWorkers,
        hideRedisDetails: true, // its version and system would help an attacker
        miscLinks: [{ text: 'HTTP interface', url: '/docs' }],
      },
    },
  });
  return new Hono().route(basePath, server.registerPlugin());
}

function adapterOf(queue: BoardQueue): BullMQAdapter {
  // A retry would run a rule again.
  const adapter = new BullMQAdapter(queue, {
    readOnlyMode: true,
    allowRetries: false,
    externalJobUrl: ({ id }) => ({ displayText: 'Execution', href: `/rule-server/mock/executions/${id}` }),
  });
  const workersOf = adapter.getWorkers.bind(adapter);
  adapter.getWorkers = async () => (await workersOf())?.map((worker) => ({ ...worker, addr: '' })) ?? null;
  adapter.setFormatter('data', () => HIDDEN);
  adapter.setFormatter('returnValue', () => HIDDEN);
  adapter.setFormatter('name', titleOf);
  return adapter;
}

function titleOf(job: unknown): string {
  const parsed = titled.safeParse(job);
  if (!parsed.success) return 'job';
  const { app, ruleId, confId } = parsed.data.data;
  return [`app ${app}`, ruleId && `rule ${ruleId}`, confId && `node ${confId}`].filter(Boolean).join(', ');
}
