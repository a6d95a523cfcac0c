import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { createOtherServer } from '../support/other-server.ts';
import { createResponder, type FoundRequest } from '../support/responder.ts';
import { startWholeProcess } from '../support/start-process.ts';

/** A soak: TWO_SERVERS=10 lets it run for ten minutes. */
const MINUTES = Number(process.env.TWO_SERVERS ?? 0);
const APP = 7;
const CLIENT_TIMEOUT_MS = 10_000;
const KINDS = ['rule', 'python', 'go'] as const;

/** What a client of each kind writes, with the number it was sent. */
function answerOf({ mockId, text }: FoundRequest, kind: (typeof KINDS)[number]): string {
  const data = `{"number":${/"number":(\d+)/.exec(text)?.[1]}}`;
  const member = kind === 'rule' ? 'the service' : 'roam';
  return `{"mockId":"${mockId}","success":true,"${member}":${data},"process":"[1:Demo:T:0]","error":null,"executeAt":${Date.now()}}`;
}

/**
 * Two services of ours with queues of their own on one directory, one called as the published server is and one as ours, with
 * clients of each dialect, and beside them what the published server removes there. That server itself is not part of it.
 */
it(
  'two servers on one directory, called in both dialects: each call gets its own answer, and each rule runs once',
  async () => {
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await mkdir(join(sharedDir, 'mock'));
    const otherServer = createOtherServer({ sharedDir, clientTimeoutMs: CLIENT_TIMEOUT_MS, app: APP });
    const settings = { CLIENT_TIMEOUT_MS, ICE_ENDPOINTS: 1, LOG_LEVEL: 'info' };
    const ports = [await freePort(), await freePort()] as const;
    const services = await Promise.all(ports.map((port) => startWholeProcess({ sharedDir, port, settings })));
    const clients = await Promise.all(
      KINDS.map((as) =>
        createResponder({
          ...{ sharedDir, app: APP, as, address: `client-${as}` },
          async does(request) {
            await request.pickUp();
            await request.answer(answerOf(request, as));
          },
        }),
      ),
    );
    const stopCleaning = otherServer.keepCleaning(1000);
    const paths = [
      `http://127.0.0.1:${ports[0]}/ice-server/mock/execute`,
      `http://127.0.0.1:${ports[1]}/rule-server/mock/execute`,
    ];
    try {
      for (const port of ports)
        await eventually(async () => expect((await httpCall(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
      let number = 0;
      const until = Date.now() + MINUTES * 60_000;
      const callers = [...paths, ...paths].map(async (path) => {
        for (; Date.now() < until; ) {
          const own = ++number;
          const isIce = path.includes('/ice-server/');
          const body = isIce
            ? { app: APP, iceId: 1, roam: { number: own } }
            : { app: APP, ruleId: 1, 'the service': { number: own } };
          const headers = { 'content-type': 'application/json' };
          const { json } = await httpCall(path, { method: 'POST', headers, body: JSON.stringify(body) });
          const answer = isIce ? json.data : json;
          expect({
            path,
            own,
            answer: isIce ? answer?.roam : answer?.['the service'],
            error: answer?.error ?? null,
          }).toEqual({
            ...{ path, own, answer: { number: own }, error: null },
          });
        }
      });
      await Promise.all(callers);
      const ran = clients.flatMap(({ found }) => found.map(({ text }) => Number(/"number":(\d+)/.exec(text)?.[1])));
      expect([ran.length, new Set(ran).size]).toEqual([number, number]);
      expect(clients.every(({ found }) => found.length > 0)).toBe(true);
      await eventually(async () => {
        const left = await readdir(join(sharedDir, 'mock'), { recursive: true });
        expect(left.filter((name) => name.endsWith('.json'))).toEqual([]);
      });
      expect(otherServer.removed()).toBeGreaterThan(0);
      const removed = `${otherServer.removed()} empty directories were removed meanwhile`;
      console.log(`${MINUTES} minutes: ${number} calls, none lost, none twice; ${removed}`);
    } finally {
      await stopCleaning();
      await Promise.all([...services.map((service) => service.kill()), ...clients.map((client) => client.stop())]);
      await rm(sharedDir, { recursive: true, force: true });
    }
  },
  MINUTES * 60_000 + 120_000,
);
