import { compactJson } from '../../../shared/json-tree/print-json.ts';
import type { Json } from '../../../shared/json-tree/read-json.ts';
import { shortened } from '../../../shared/reasoning/words/fact-words.ts';
import type { Client } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import { differingValues, type Parting } from '../../run/compare.ts';
import { type Reading, versionRan } from '../../run/reading.ts';
import type { Say } from '../../text/use-text.tsx';
import { sdkKey } from '../input/target.tsx';
import { nodeWords } from '../tree/node-link.tsx';

const MAX_VERDICTS = 3;

type Run = { letter: string; name: string; reading: Reading | null; parting: Parting | null };

/** In which way each run differs from the first, those that do not, and how many are not in it yet. */
export function summary(runs: readonly Run[], say: Say): string {
  const open = runs.filter(({ reading }) => reading === null).length;
  const waiting = open > 0 ? [say('compare.running', { n: open })] : [];
  const [first, ...others] = runs;
  const base = first?.reading ?? null;
  if (base === null) return waiting.join(' ');
  const told = others.flatMap(({ letter, name, reading, parting }) =>
    reading === null ? [] : [{ name: `${letter} (${name})`, how: howItDiffers({ reading, parting }, base, say) }],
  );
  const differing = told.flatMap(({ name, how }) => (how === null ? [] : [say('compare.differs', { name, how })]));
  const more = differing.length - MAX_VERDICTS;
  if (differing.length === 0) return [...(told.length > 0 ? [say('compare.equal')] : []), ...waiting].join(' ');
  const alike = told.length - differing.length;
  return [
    ...differing.slice(0, MAX_VERDICTS),
    ...(more > 0 ? [say('compare.more', { n: more })] : []),
    ...(alike > 0 ? [say('compare.alike', { n: alike })] : []),
    ...waiting,
  ].join(' ');
}

type Compared = { reading: Reading; parting: Parting | null };

/** Null where a run came to the same in the same way. */
function howItDiffers({ reading, parting }: Compared, base: Reading, say: Say): string | null {
  const [mine, theirs] = [reading, base].map(({ decision }) => decision);
  if (reading.result?.error && reading.result.error !== base.result?.error) return reading.result.error;
  if (mine && theirs && mine !== theirs) return say('compare.how.decision', { mine, theirs });
  const [state, other] = [reading, base].map(({ execution }) => execution.record.state);
  if (state && other && state !== other)
    return say('compare.how.state', { mine: say(`history.state.${state}`), theirs: say(`history.state.${other}`) });
  const [change] = differingValues([base.after, reading.after]);
  const text = (json: Json | null | undefined) => (json ? shortened(compactJson(json)) : say('node.absent'));
  if (change)
    return say('compare.how.data', { path: change.path, mine: text(change.values[1]), theirs: text(change.values[0]) });
  const first = parting?.first ?? null;
  return first === null ? null : say('compare.how.trace', { node: nodeWords(first, say) });
}

type About = { clients: readonly Client[]; say: Say; time: (at: number) => string };

/** A run goes by its lane, else its client; and what is known of that client. Runs on one client go by their time. */
export function columnWords(
  record: ExecutionRecord | null,
  { clients, say, time: timeOf }: About,
): { name: string; about: string } {
  if (record === null) return { name: '…', about: '' };
  const time = timeOf(record.history[0]?.at ?? 0);
  if (record.address === null) return { name: time, about: '' };
  const client = clients.find(({ address }) => address === record.address);
  const ran = versionRan(record.rules);
  const version = ran === null ? [] : [say('header.version', { version: ran })];
  const lane = client?.lane == null ? '' : `${say('target.inLane', { lane: client.lane })} · `;
  const about = [...(client ? [say(sdkKey(client.sdk))] : []), ...version].join(' · ');
  return { name: `${lane}${record.address} · ${time}`, about };
}
