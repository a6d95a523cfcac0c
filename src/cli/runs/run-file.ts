import { visible } from '../../shared/contract/json/visible-text.ts';
import { readRunFile, runFileName, runFileOf } from '../../shared/reasoning/trace/run-file.ts';
import { textFaultOf } from '../../shared/reasons/text-faults.ts';
import { readText } from '../../shared/runtime/read-text.ts';
import { version } from '../../version.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get } from '../terminal/http-api.ts';
import { openNewOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

type SaveRunOptions = { url: string; key?: string; out?: string; force?: boolean };

export const CHANGED = 'This file was changed after it was saved: its checksum is that of another execution.';

/** Writes an execution with the tree of its rules into a file, which is explained without the service. Resolves to the exit code. */
export async function saveRun(mockId: string, options: SaveRunOptions, { stdout }: Surroundings): Promise<number> {
  const { out = runFileName(mockId), force = false } = options;
  const api = createHttpApi({ url: options.url, key: options.key });
  const write = await openNewOutput('--out', out, force);
  const execution = await get(api, `executions/${mockId}`, { include: 'tree' });
  const { text, masked, missing } = runFileOf(execution, `rule-server ${version}`);
  await write(text, 'Nothing was saved.');
  const without = missing.length === 0 ? '' : ` The service did not keep its ${missing.join(' and its ')}.`;
  const hidden = masked.length === 0 ? '' : ` Hidden in it: ${masked.join(', ')}.`;
  stdout.write(`${visible(`${out} is written.${without}${hidden}`)}\n`);
  return exitCodes.ok;
}

/** The execution in a file, as JSON text, and its id. `changed`: somebody changed it after it was saved. */
export async function openRunFile(path: string): Promise<{ mockId: string; execution: string; changed: boolean }> {
  const text = await readText(path).catch((error) => {
    throw new CommandFailed(`${path} cannot be read: ${error.message}`, exitCodes.usage);
  });
  const read = readRunFile(text);
  if (read.kind === 'run') return read;
  throw new CommandFailed(`${path} ${textFaultOf(read.fault)}: rule-server run save writes one.`, exitCodes.usage);
}
