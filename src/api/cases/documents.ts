import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type Change,
  type DocumentResult,
  type DocumentTask,
  type ReadText,
  runDocumentTask,
} from './document-tasks.ts';

/** A document of more characters is read in a thread: 1 MiB takes a second or two, and calls must not wait for it. */
const IN_PLACE = 16 * 1024;
const MAX_THREADS = 2;
const GIVE_UP_MS = 30_000;

export type Documents = ReturnType<typeof createDocuments>;

/** Reads and changes documents of cases, however large, without holding up anything else. */
export function createDocuments() {
  let threads = 0;
  const waiting: (() => void)[] = [];

  async function run(task: DocumentTask, size: number): Promise<DocumentResult> {
    if (size <= IN_PLACE) return runDocumentTask(task);
    if (threads >= MAX_THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
    threads++;
    try {
      return await inThread(task);
    } finally {
      threads--;
      waiting.shift()?.();
    }
  }

  async function readText(task: Extract<DocumentTask, { task: 'read' | 'change' }>): Promise<ReadText> {
    const result = await run(task, task.text.length);
    if (result.kind === 'compared') throw new Error(`a document was compared where it was to be ${task.task}`);
    return result;
  }

  return {
    read: (text: string) => readText({ task: 'read', text }),
    change: (text: string, change: Change) => readText({ task: 'change', text, change }),

    /** The names of the cases in which two documents differ; an empty text has none. */
    async differing(texts: [string, string]): Promise<string[]> {
      const result = await run({ task: 'compare', texts }, texts[0].length + texts[1].length);
      return result.kind === 'compared' ? result.names : [];
    },
  };
}

async function inThread(task: DocumentTask): Promise<DocumentResult> {
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
