import { clientListSchema, treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { occurrencesOf } from '../../shared/reasoning/tree.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { queryOf, type Which } from './suite.ts';

const ASK_ABOVE = 100;
const MAX_NAMED = 5;

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
  const { status, text } = await api.call(`/rule-server/mock/clients?app=${encodeURIComponent(app ?? '')}`);
  const clients = status === 200 ? readAnswer(clientListSchema, text).items : [];
  return targets.length - 1 + clients.filter(({ state }) => state !== 'offline').length;
}

/** The leaves of the rule that give or do something, by the names its author gave them. */
async function effectsOf(api: HttpApi, which: Which): Promise<string[]> {
  const { status, text } = await api.call(`/rule-server/mock/tree?${queryOf(which)}`);
  const root = status === 200 ? readAnswer(treeSchema, text).root : null;
  const acting = (root === null ? [] : occurrencesOf(root)).filter(({ node }) => node.type === 'LeafResult');
  const names = [...new Set(acting.map(({ node }) => node.label || node.className || 'a result'))];
  return names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`] : names;
}
