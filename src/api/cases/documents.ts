import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Case } from '../../shared/cases/case.ts';
import { type Change, type DocumentTask, type ReadText, runDocumentTask } from './document-tasks.ts';

/** A document of more characters is read in a thread: 1 MiB takes a second or two, and calls must not wait for it. */
const IN_PLACE = 16 * 1024;
const MAX_THREADS = 2;
const GIVE_UP_MS = 30_000;

export type Documents = ReturnType<typeof createDocuments>;

/** Reads and changes documents of cases, however large, without holding up anything else. */
export function createDocuments() {
  let threads = 0;
  const waiting: (() => void)[] = [];

  async function run(task: DocumentTask): Promise<ReadText> {
    if (task.text.length <= IN_PLACE) return runDocumentTask(task);
    if (threads >= MAX_THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
    threads++;
    try {
      return await inThread(task);
    } finally {
      threads--;
      waiting.shift()?.();
    }
  }

  async function casesIn(text: string): Promise<Map<string, string>> {
    const read = text === '' ? null : await run({ text });
    const cases = read?.kind === 'read' ? read.document.cases : [];
    return new Map(cases.map(({ line: _, ...one }: Case) => [one.name, JSON.stringify(one)]));
  }

  return {
    read: (text: string) => run({ text }),
    change: (text: string, change: Change) => run({ text, change }),

    /** The names of the cases that only one of two documents has, or that are not the same in both; an empty text has none. */
    async differing(texts: [string, string]): Promise<string[]> {
      const [first, second] = await Promise.all([casesIn(texts[0]), casesIn(texts[1])]);
      return [...new Set([...first.keys(), ...second.keys()])].filter((name) => first.get(name) !== second.get(name));
    },
  };
}

async function inThread(task: DocumentTask): Promise<ReadText> {
  // Beside this file, whether it runs as it is or was compiled.
  const file = import.meta.url.endsWith('.ts') ? './document-thread.ts' : './document-thread.js';
  const thread = new Worker(new URL(file, import.meta.url), { workerData: task, execArgv: [] });
  try {
    const [result] = await once(thread, 'message', { signal: AbortSignal.timeout(GIVE_UP_MS) });
    return result;
  } finally {
    await thread.terminate();
  }
}
