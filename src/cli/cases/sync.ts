import { z } from 'zod';
import { etagOf } from '../../shared/cases/etag.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { changedCases } from '../../shared/contract/saved-cases.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { readText } from '../../shared/runtime/read-text.ts';
import { exitCodeOfAnswer, exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, errorOf, type HttpApi } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { queryOf, readSuites, type Which } from './suite.ts';

type Common = Which & { force?: boolean; json?: boolean; url: string; key?: string };
type PullOptions = Common & { app: string; out?: string };
type PushOptions = Common;

const NEITHER_LOST = 'Nothing was changed';
const changedSchema = z.object(changedCases);

/** Writes the saved cases into a file of the repository. Overwrites other content only with --force. */
export async function pull(options: PullOptions, { stdout }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const saved = await readSaved(api, options);
  if (saved === null) throw new CommandFailed('No cases are saved there.', exitCodes.rejected);
  const path =
    options.out ?? `${options.ruleId === undefined ? `node-${options.confId}` : `rule-${options.ruleId}`}.cases.yaml`;
  const there = await readText(path).catch((error) => (errnoOf(error) === 'ENOENT' ? null : fail(path, error)));
  const result = { path, etag: etagOf(saved), changed: there !== saved };
  if (there === saved) return tell(stdout, options.json ? result : `${path} has them already.`);
  if (there !== null && !options.force)
    throw new CommandFailed(
      `${path} differs from the saved cases. ${NEITHER_LOST}: push it, or pull with --force.`,
      exitCodes.failed,
    );
  await (await openOutput('--out', path))(saved, `${NEITHER_LOST}.`);
  return tell(stdout, options.json ? result : `${path} is written (ETag ${result.etag}).`);
}

/** Saves the cases of a file at the service. Overwrites other saved cases only with --force. */
export async function push(path: string, options: PushOptions, { stdout }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const [suite] = await readSuites([path], options);
  if (!suite) throw new CommandFailed(`${path} holds no cases.`, exitCodes.usage);
  const { app, ruleId, confId, text } = suite;
  const which = { app, ...(ruleId !== null && { ruleId }), ...(confId !== null && { confId }) };
  const saved = await readSaved(api, which);
  const result = { path, etag: etagOf(text), changed: saved !== text };
  if (saved === text) return tell(stdout, options.json ? result : `${path} is what is saved already.`);
  const condition: Record<string, string> =
    saved !== null && options.force ? { 'if-match': etagOf(saved) } : { 'if-none-match': '*' };
  const headers = { 'content-type': 'application/yaml', ...condition };
  const answer = await api.call(`/rule-server/mock/cases?${queryOf(which)}`, { method: 'PUT', headers, body: text });
  if (answer.status === 412) throw new CommandFailed(whatDiffers(answer.text), exitCodes.failed);
  if (answer.status !== 200) throw new CommandFailed(errorOf(answer.text), exitCodeOfAnswer(answer.status));
  return tell(stdout, options.json ? result : `${path} is saved (ETag ${result.etag}).`);
}

async function readSaved(api: HttpApi, which: Which): Promise<string | null> {
  const { status, text } = await api.call(`/rule-server/mock/cases?${queryOf(which)}`);
  if (status === 200) return text;
  if (status === 404) return null;
  throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status));
}

function whatDiffers(text: string): string {
  const names = changedSchema.safeParse(parseJson(text)).data?.cases ?? [];
  const listed = names.map((name) => `\n  ${visible(name)}`).join('');
  return `Other cases are saved there. ${NEITHER_LOST}: pull them, or push with --force.${listed && ` They differ in:${listed}`}`;
}

/** `changed`: whether the content of the file, or of the saved cases, is new. */
type Result = { path: string; etag: string; changed: boolean };

function tell(stdout: Surroundings['stdout'], what: Result | string): number {
  stdout.write(typeof what === 'string' ? `${visible(what)}\n` : `${visibleJson(JSON.stringify(what))}\n`);
  return exitCodes.ok;
}

function fail(path: string, error: Error): never {
  throw new CommandFailed(`${path} cannot be used: ${error.message}`, exitCodes.usage);
}
