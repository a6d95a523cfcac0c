import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { NOTE_SECONDS } from '../../notes/notes.ts';

/** A line: an execution was put on the queue, or a call was noted under a key (null: the key is free again). */
const lineSchema = z.union([
  z.object({ execution: z.string(), at: z.int(), head: z.unknown() }),
  z.object({ key: z.string(), note: z.string().nullable() }),
]);
type LedgerLine = z.infer<typeof lineSchema>;

const LINES_PER_FILE = 5000;
const FILES_OF_EXECUTIONS = 3;
const HOUR_MS = 3_600_000;

export type Ledger = ReturnType<typeof openLedger>;

/**
 * Lines in plain files beside the database: which executions there were lately, and which calls under which keys in the last
 * 24 h. It is read only when the database is lost, so that none of them runs again. It holds no input and no answer.
 */
export function openLedger(folder: string, now = Date.now) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = () => readdirSync(folder).sort();
  let file = '';
  let lines = LINES_PER_FILE;

  function nextFile(): void {
    file = `executions-${String(now()).padStart(15, '0')}.jsonl`;
    lines = 1;
    const old = names()
      .filter((name) => name.startsWith('executions-'))
      .slice(0, -FILES_OF_EXECUTIONS + 1);
    for (const name of old) rmSync(join(folder, name), { force: true });
  }

  let hour = -1;
  function fileOfHour(): string {
    const current = Math.floor(now() / HOUR_MS);
    const nameOf = (which: number) => `keys-${String(which).padStart(9, '0')}.jsonl`;
    if (current !== hour) {
      hour = current;
      const oldest = nameOf(current - Math.ceil((NOTE_SECONDS * 1000) / HOUR_MS));
      for (const name of names())
        if (name.startsWith('keys-') && name < oldest) rmSync(join(folder, name), { force: true });
    }
    return nameOf(current);
  }
  const write = (name: string, line: LedgerLine) =>
    appendFileSync(join(folder, name), `${JSON.stringify(line)}\n`, { mode: 0o600 });

  return {
    /** Notes an execution before its caller hears that it was accepted. */
    execution(mockId: string, head: unknown): void {
      if (lines++ >= LINES_PER_FILE) nextFile();
      write(file, { execution: mockId, at: now(), head });
    },
    /** Notes which call a key stands for, before that call can run. */
    key: (key: string, note: string | null): void => write(fileOfHour(), { key, note }),
    /** The notes, oldest first. A line that a crash cut off is left out: its call was not answered. */
    *read(): Iterable<LedgerLine> {
      for (const name of names()) {
        for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
          const { data } = lineSchema.safeParse(parseJson(line));
          if (data) yield data;
        }
      }
    },
  };
}
