import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { runFileOf, runFileSchema, wasChanged } from '../../shared/reasoning/trace/run-file.ts';
import { version } from '../../version.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get } from '../terminal/http-api.ts';
import { openNewOutput } from '../terminal/output-file.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

export type SaveRunOptions = { url: string; key?: string; out?: string; force?: boolean };

export const CHANGED = 'This file was changed after it was saved: its digest is that of another execution.';

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Writes an execution with the tree of its rules into a file, which is explained without the service. Resolves to the exit code. */
export async function saveRun(mockId: string, options: SaveRunOptions, { stdout }: Surroundings): Promise<number> {
  const { out = `run-${mockId.slice(0, 8)}.rule-run.json`, force = false } = options;
  const api = createHttpApi({ url: options.url, key: options.key });
  const write = await openNewOutput('--out', out, force);
  const execution = await get(api, `executions/${mockId}`, { include: 'tree' });
  const { text, masked, missing } = runFileOf(execution, { savedBy: version, digestOf });
  await write(text, 'Nothing was saved.');
  const without = missing.length === 0 ? '' : ` The service did not keep its ${missing.join(' and its ')}.`;
  const hidden = masked.length === 0 ? '' : ` Hidden in it: ${masked.join(', ')}.`;
  stdout.write(`${visible(`${out} is written.${without}${hidden}`)}\n`);
  return exitCodes.ok;
}

/** The execution in a file, as JSON text, and its id. `changed`: somebody changed it after it was saved. */
type SavedRun = { mockId: string; execution: string; changed: boolean };

export async function readRunFile(path: string): Promise<SavedRun> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new CommandFailed(`${path} cannot be read: ${error.message}`, exitCodes.usage);
  });
  const read = readJson(text);
  if (read.kind === 'bad') throw new CommandFailed(`${path} is no JSON: ${read.message}`, exitCodes.usage);
  const file = runFileSchema.safeParse(JSON.parse(text));
  const execution = rawMember(text, 'execution');
  if (!file.success || execution === undefined)
    throw new CommandFailed(`${path} is no saved run: rule-server run save writes one.`, exitCodes.usage);
  return { mockId: file.data.execution.mockId, execution, changed: wasChanged(execution, file.data.digest, digestOf) };
}
