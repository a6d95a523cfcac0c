import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { HttpApi } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { queryOf, type Which } from './suite.ts';

const ASK_ABOVE = 100;
const MAX_NAMED = 5;

type Node = { type: string; label: string | null; className: string | null; forward: Node | null; children: Node[] };
const nodeSchema: z.ZodType<Node> = z.object({
  type: z.string(),
  label: z.string().nullable(),
  className: z.string().nullable(),
  forward: z.lazy(() => nodeSchema.nullable()),
  children: z.lazy(() => z.array(nodeSchema)),
});
const treeSchema = z.object({ root: nodeSchema.nullable() });
const clientsSchema = z.object({ clients: z.array(z.object({ state: z.string() })) });

type Plan = { which: Which; cases: number; targets: string[] };

/** Says how many runs there will be and what they may do; above a hundred real ones only with --yes. */
export async function announce(
  api: HttpApi,
  { which, cases, targets }: Plan,
  { yes = false, dryRun = false, stderr }: { yes?: boolean; dryRun?: boolean; stderr: Surroundings['stderr'] },
): Promise<void> {
  const [onEach, effects] = await Promise.all([countTargets(api, targets, which), effectsOf(api, which)]);
  const runs = cases * onEach;
  const may = dryRun || effects.length === 0 ? '' : `; may call ${effects.join(', ')}`;
  const sentence = `${runs} ${dryRun ? 'dry' : 'real'} ${runs === 1 ? 'run' : 'runs'} on ${targets.join(', ')}${may}`;
  if (runs > ASK_ABOVE && !yes && !dryRun)
    throw new CommandFailed(`${sentence}. That is more than ${ASK_ABOVE}: add --yes to run them.`, exitCodes.usage);
  stderr.write(`${sentence}\n`);
}

/** Targets, with each client that is online in the place of `client:*`. */
async function countTargets(api: HttpApi, targets: string[], { app }: Which): Promise<number> {
  if (!targets.includes('client:*')) return targets.length;
  const { text } = await api.call(`/rule-server/mock/clients?app=${encodeURIComponent(app ?? '')}`);
  const { clients = [] } = clientsSchema.safeParse(parseJson(text)).data ?? {};
  return targets.length - 1 + clients.filter(({ state }) => state !== 'offline').length;
}

/** The leaves of the rule that give or do something, by the names its author gave them. */
async function effectsOf(api: HttpApi, which: Which): Promise<string[]> {
  const { text } = await api.call(`/rule-server/mock/tree?${queryOf(which)}`);
  const root = treeSchema.safeParse(parseJson(text)).data?.root ?? null;
  const names = [...new Set(root === null ? [] : resultsBelow(root))];
  return names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`] : names;
}

function resultsBelow({ type, label, className, forward, children }: Node): string[] {
  const own = type === 'LeafResult' ? [label || className || 'a result'] : [];
  return [...own, ...[...(forward ? [forward] : []), ...children].flatMap(resultsBelow)];
}
