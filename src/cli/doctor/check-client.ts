import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { joinMembers, scanJson } from '../../shared/contract/json/exact-json.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { cases, judgeFiles, type Playing, playFirst } from './client-cases.ts';
import { type ClientFolder, clientOf, openClientFolder, type Reply } from './client-folder.ts';
import { type Finding, fail, guarded, lineOf, ok } from './finding.ts';

type CheckClientOptions = { ruleId?: string; confId?: string; data: string; within: string; json?: boolean };

/** The name of the member by which the requests differ. */
const OWN_KEY = 'check-client';
const BEATS_WITHIN_MS = 30_000;

/** Plays a worker in a client's directory and reports each hard case. Runs real rules. Exits with 1 if a case failed. */
export async function checkClient(
  directory: string,
  options: CheckClientOptions,
  { stdout }: Surroundings,
): Promise<number> {
  const path = resolve(directory);
  const client = clientOf(path);
  const isThere = (await stat(path).catch(unless('ENOENT', 'ENOTDIR')))?.isDirectory();
  if (!client || !isThere)
    throw new CommandFailed(
      `${directory} is not the directory of a client: name its mock/{app}/{address}, which the client serves.`,
      exitCodes.usage,
    );
  const registration = await readRegistration(client);
  if (registration.isPublished)
    throw new CommandFailed(
      `The client of ${directory} registers as a published SDK, which has names of its own for requests. This checks clients of docs/use/clients.md.`,
      exitCodes.usage,
    );
  const input = inputOf(options.data);
  const [ruleId, confId] = [idOf('--rule-id', options.ruleId), idOf('--conf-id', options.confId)];
  const ids = { ruleId: ruleId ?? (confId === null ? '1' : null), confId };
  const withinMs = positive('--within', options.within) * 1000;
  const folder = openClientFolder(path, { app: client.app, ...ids, withinMs });
  let failed = false;
  const all: Finding[] = [];
  const tell = (finding: Finding) => {
    failed ||= finding.level === 'fail';
    all.push(finding);
    if (!options.json) stdout.write(lineOf(finding, stdout));
  };
  try {
    await play({ folder, input, isDryRun: registration.isDryRun, tell });
    if (registration.check) tell(await registration.check());
  } finally {
    await folder.close();
  }
  if (options.json) stdout.write(`${JSON.stringify(all)}\n`);
  return failed ? exitCodes.failed : exitCodes.ok;
}

type Parts = Pick<Playing, 'input' | 'isDryRun'> & { folder: ClientFolder; tell: (finding: Finding) => void };

async function play({ folder, input, isDryRun, tell }: Parts): Promise<void> {
  const { reply, finding } = await playFirst({ folder, input });
  tell(finding);
  if (reply.kind === 'silent') return;
  const playing = { folder, input, isDryRun, quietMs: quietAfter(reply) };
  for (const { name, play: playOne } of cases) {
    const [found] = await guarded(name, async () => [await playOne(name, playing)]);
    if (found) tell(found);
  }
  for (const each of judgeFiles(playing)) tell(each);
}

const quietAfter = (reply: Reply): number => 2000 + (reply.kind === 'answered' ? 2 * reply.ms : 0);

function inputOf(data: string): Playing['input'] {
  const scanned = scanJson(data);
  if (scanned.kind !== 'complete' || scanned.type !== 'object')
    throw new CommandFailed('--data must be a JSON object.', exitCodes.usage);
  const members = scanned.members.filter(({ key }) => key !== OWN_KEY);
  return (value) => joinMembers([...members.map(({ key, raw }) => [key, raw] as const), [OWN_KEY, value]]);
}

function idOf(option: string, text: string | undefined): string | null {
  if (text === undefined || /^[1-9]\d{0,18}$/.test(text)) return text ?? null;
  throw new CommandFailed(`${option} must be the number of a rule or a node, found ${text}.`, exitCodes.usage);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 600) return value;
  throw new CommandFailed(`${option} must be a number of seconds from 1 to 600.`, exitCodes.usage);
}

type Registered = { isDryRun: boolean; isPublished: boolean; check?: () => Promise<Finding> };

const registrationSchema = z.object({
  address: z.string(),
  app: z.number(),
  dialect: z.string().nullish(),
  dryRun: z.boolean().nullish(),
  startTime: z.number().nullish(),
  loadedVersion: z.number().nullish(),
});
const heartbeatSchema = z.object({ lastHeartbeat: z.number() });

/** A client's registration, if it has one: its directory is enough. */
async function readRegistration(client: { app: number; address: string; sharedDir: string }): Promise<Registered> {
  const home = join(client.sharedDir, 'clients', String(client.app));
  const lanes = (await readdir(join(home, 'lane')).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  for (const folder of [home, ...lanes.map((lane) => join(home, 'lane', lane))]) {
    const text = await readFile(join(folder, `m_${client.address}.json`), 'utf8').catch(unless('ENOENT', 'ENOTDIR'));
    if (text === undefined) continue;
    const found = registrationSchema.safeParse(parseJson(text));
    const { dialect, startTime, loadedVersion, dryRun } = found.data ?? {};
    const isPublished = dialect !== 'rule' && startTime != null && loadedVersion != null;
    return { isDryRun: dryRun === true, isPublished, check: () => checkRegistration(folder, client, found.data) };
  }
  const message = 'none, so the client counts as online as long as its directory is there';
  return { isDryRun: false, isPublished: false, check: async () => ok('registration', message) };
}

async function checkRegistration(
  folder: string,
  { app, address }: { app: number; address: string },
  registration: z.infer<typeof registrationSchema> | undefined,
): Promise<Finding> {
  if (registration?.app !== app || registration.address !== address)
    return fail(
      'registration',
      `m_${address}.json does not name app ${app} and address ${address}`,
      'Write {"address":"…","app":…} with the names of the directory: any other one is passed over.',
    );
  const name = `b_${address}.json`;
  const text = await readFile(join(folder, name), 'utf8').catch(unless('ENOENT'));
  const { data } = heartbeatSchema.safeParse(parseJson(text ?? ''));
  const advice = `Write {"lastHeartbeat":<epoch ms>} into ${name} every 10 s, also while a rule runs.`;
  if (!data) return fail('registration', `${name} has no lastHeartbeat, so the client is offline`, advice);
  const age = Date.now() - data.lastHeartbeat;
  return Math.abs(age) < BEATS_WITHIN_MS
    ? ok('registration', `its last heartbeat is ${Math.round(age / 1000)} s old`)
    : fail('registration', `its last heartbeat is ${Math.round(age / 1000)} s old, so the client is offline`, advice);
}
