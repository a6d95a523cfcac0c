import { z } from 'zod';
import { joinMembers, scanJson } from '../../shared/contract/exact-json.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { beginRun } from '../begin-run.ts';
import { statesOf } from '../event-stream.ts';
import { exitCodes } from '../exit-codes.ts';
import { errorOf, type HttpApi } from '../http-api.ts';
import { rawMember } from '../raw-member.ts';
import { CommandFailed } from '../surroundings.ts';

/** A tree that is longer is left out of an explanation: an assistant reads no more at a time. */
const MAX_TREE = 200_000;
const BASE = '/rule-server/mock';

/** The body of one answer, as it was written. Throws `CommandFailed` with its sentence when there is none. */
export async function get(
  api: HttpApi,
  path: string,
  query: Record<string, string | number | readonly string[] | undefined>,
) {
  const given = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, `${value}`]),
  );
  const { status, text } = await api.call(`${BASE}/${path}?${new URLSearchParams(given)}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodes.failed);
  return text;
}

export async function listRules(api: HttpApi, app: number): Promise<string> {
  const [rules, clients] = await Promise.all([get(api, 'rules', { app }), get(api, 'clients', { app })]);
  return joinMembers(Object.entries({ rules, clients }));
}

type Asked = {
  app: number;
  ruleId?: string | undefined;
  confId?: string | undefined;
  input: string;
  target?: string | undefined;
};

/** Runs a rule once, and resolves to the whole execution. When the assistant gives up, it is cancelled. */
export async function runRule(api: HttpApi, asked: Asked, signal: AbortSignal): Promise<string> {
  const scanned = scanJson(asked.input);
  if (scanned.kind !== 'complete' || scanned.type !== 'object')
    throw new CommandFailed('input must be a JSON object, as text.', exitCodes.usage);
  const { app, ruleId: rule, confId: node, target } = asked;
  const mockId = await beginRun(api, { app: String(app), rule, node, target }, asked.input);
  for await (const _ of statesOf(api, mockId, signal)) {
    // Its end is what is waited for.
  }
  if (!signal.aborted) return get(api, `executions/${mockId}`, {});
  await api.call(`${BASE}/executions/${mockId}`, { method: 'DELETE' });
  throw new CommandFailed(`Execution ${mockId} is being cancelled.`, exitCodes.interrupted);
}

const version = z.union([z.number(), z.string()]).nullable();
const aboutSchema = z.object({
  app: z.number(),
  ruleId: z.unknown(),
  confId: z.unknown(),
  address: z.string().nullable(),
  rules: z.object({ released: version, loaded: version, digest: z.string().nullable() }).nullish(),
});
type About = z.infer<typeof aboutSchema>;

/** One execution, the tree that its trace names the nodes of, and which tree that is: its own, or that of now. */
export async function explainRun(api: HttpApi, mockId: string): Promise<string> {
  const whole = await get(api, `executions/${mockId}`, { include: 'tree' });
  const own = rawMember(whole, 'tree');
  const execution = joinMembers(membersOf(whole).filter(([name]) => name !== 'tree'));
  const about = aboutSchema.parse(parseJson(execution));
  const tree = own ?? (await treeOfNow(api, execution, about));
  const fits = tree.length <= MAX_TREE ? tree : JSON.stringify({ error: 'The tree is too long to be shown here.' });
  return joinMembers(
    Object.entries({ execution, tree: fits, aboutTheTree: JSON.stringify(sentenceAbout(about, own !== undefined)) }),
  );
}

function membersOf(text: string): [string, string][] {
  const scanned = scanJson(text);
  return scanned.kind === 'complete' ? scanned.members.map(({ key, raw }) => [key, raw]) : [];
}

/** For the client that ran it. */
async function treeOfNow(api: HttpApi, execution: string, { app, address }: About): Promise<string> {
  const [ruleId, confId] = [rawMember(execution, 'ruleId'), rawMember(execution, 'confId')];
  return get(api, 'tree', { app, ruleId, confId, address: address ?? undefined }).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    return JSON.stringify({ error: error.message });
  });
}

function sentenceAbout({ rules }: About, isKept: boolean): string {
  if (!isKept)
    return 'This is the tree of now: that of the run is not known. Its settings may have been others, so they explain nothing.';
  const { released = null, loaded = null } = rules ?? {};
  if (released !== null && loaded !== null && String(released) !== String(loaded))
    return `This is the tree of version ${released}, which was released. The client had told that it has version ${loaded}: it may have run that one.`;
  return 'This is the tree as it was when the run was sent. It may have changed since.';
}
