// Offers calls of execute at a steady rate, whatever becomes of them, and counts how each ended. A process of its own, so that it can have
// a core of its own: `overload-calls.ts URL,… SOCKETS`, then one message { perSecond, seconds } for each load.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { GOOD_WITHIN_MS, offerSchema, type Told } from './overload-told.ts';

/** After the load ended, answers are waited for this long. */
const PATIENCE_MS = 20_000;
const TICK_MS = 2;
const BODY = Buffer.from('{"app":1,"ruleId":1,"the service":{"uid":1,"cost":120}}');

const [urls = '', sockets = '13000'] = process.argv.slice(2);
const most = Number(sockets);
const targets = urls.split(',').map((url) => new URL(`${url}/rule-server/mock/execute`));
const headers = { 'content-type': 'application/json', 'content-length': String(BODY.length) };

const tell = (told: Told) => void process.send?.(told);

async function offer({ perSecond, seconds }: z.infer<typeof offerSchema>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: most, maxFreeSockets: most });
  const served: number[] = [];
  const refused: number[] = [];
  const endings: Record<string, number> = {};
  const retryAfter: Record<string, number> = {};
  const counts = { sent: 0, noSocket: 0, good: 0, goodSteadily: 0, tooLate: 0 };
  const beganAt = performance.now();
  let latestMs = 0;
  let open = 0;
  const add = (to: Record<string, number>, what: string) => {
    to[what] = (to[what] ?? 0) + 1;
  };

  function callOne(): void {
    if (open >= most) return void counts.noSocket++;
    const target = targets[counts.sent++ % targets.length];
    if (!target) return;
    const startedAt = performance.now();
    open++;
    let isOver = false;
    const over = () => {
      if (!isOver) open--;
      isOver = true;
    };
    const outgoing = request(target, { method: 'POST', headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      const status = incoming.statusCode ?? 0;
      // Only a body that says why is kept.
      incoming.on('data', (chunk: Buffer) => status !== 200 && chunks.push(chunk));
      incoming.on('error', () => {});
      incoming.on('end', () => {
        const ms = performance.now() - startedAt;
        over();
        if (status === 200) {
          served.push(ms);
          const since = performance.now() - beganAt;
          const isSteady = since >= GOOD_WITHIN_MS && since < seconds * 1000;
          if (isSteady && ms <= GOOD_WITHIN_MS) counts.goodSteadily++;
          if (ms <= GOOD_WITHIN_MS) counts.good++;
          else counts.tooLate++;
          return;
        }
        refused.push(ms);
        add(endings, toldBy(status, Buffer.concat(chunks).toString()));
        add(retryAfter, `${incoming.headers['retry-after'] ?? 'none'}`);
      });
    });
    outgoing.on('error', (error) => {
      if (!isOver) add(endings, `no answer: ${error.message.split(' ').slice(0, 2).join(' ')}`);
      over();
    });
    outgoing.end(BODY);
  }

  const before = process.cpuUsage();
  const total = perSecond * seconds;
  let lastAt = beganAt;
  let due = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      latestMs = Math.max(latestMs, now - lastAt - TICK_MS);
      lastAt = now;
      const until = Math.min(total, Math.floor(((now - beganAt) * perSecond) / 1000));
      for (; due < until; due++) callOne();
      if (now - beganAt < seconds * 1000) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const cpu = process.cpuUsage(before);
  tell({ kind: 'sent' });
  const patientUntil = performance.now() + PATIENCE_MS;
  while (open > 0 && performance.now() < patientUntil) await delay(20);
  if (open > 0) endings[`no answer within ${PATIENCE_MS / 1000} s of the end`] = open;
  agent.destroy();
  const cpuSeconds = (cpu.user + cpu.system) / 1e6;
  const times = { p50: at(served, 0.5), p99: at(served, 0.99), refusedP50: at(refused, 0.5) };
  tell({ kind: 'answered', ...counts, endings, retryAfter, ...times, latestMs, cpuSeconds });
}

function toldBy(status: number, body: string): string {
  const code = /"code":"([\w-]+)"/.exec(body)?.[1] ?? 'no code';
  const mayHaveRun = /"mayHaveRun":(\w+)/.exec(body)?.[1] ?? 'unsaid';
  return `${status} ${code}${mayHaveRun === 'false' ? '' : `, mayHaveRun ${mayHaveRun}`}`;
}

function at(values: number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

process.on('message', (message) => void offer(offerSchema.parse(message)));
process.send?.('ready');
