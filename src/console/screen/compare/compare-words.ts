import { shortened } from '../../../shared/reasoning/words/fact-words.ts';
import type { Client } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import type { Beside, Ended } from '../../run/compare.ts';
import { versionRan } from '../../run/reading.ts';
import type { Say } from '../../text/use-text.tsx';
import { sdkKey } from '../input/target.tsx';
import { nodeWords } from '../tree/node-link.tsx';

const MAX_VERDICTS = 3;

type Run = { letter: string; name: string; ended: Ended | null; beside: Beside | null };

/** In which way each run differs from the first, those that do not, those of which that is not known, and how many are not in it yet. */
export function summary(runs: readonly Run[], say: Say): string {
  const open = runs.filter(({ ended }) => ended === null).length;
  const waiting = open > 0 ? [say('compare.running', { n: open })] : [];
  const [first, ...later] = runs;
  const base = first?.ended ?? null;
  if (base === null) return waiting.join(' ');
  const told = later.flatMap(({ letter, name, ended, beside }) =>
    ended && beside ? [wordsOf(`${letter} (${name})`, { ...ended, beside, base, say })] : [],
  );
  const others = told.filter((words) => words !== null);
  const more = others.length - MAX_VERDICTS;
  if (others.length === 0) return [...(told.length > 0 ? [say('compare.equal')] : []), ...waiting].join(' ');
  const alike = told.length - others.length;
  return [
    ...others.slice(0, MAX_VERDICTS),
    ...(more > 0 ? [say('compare.more', { n: more })] : []),
    ...(alike > 0 ? [say('compare.alike', { n: alike })] : []),
    ...waiting,
  ].join(' ');
}

type Compared = Ended & { beside: Beside; base: Ended; say: Say };

/** Null where a run came to the same in the same way. */
function wordsOf(name: string, { reading, conclusion, beside, base, say }: Compared): string | null {
  const how = howItDiffers({ reading, beside, base, say });
  if (how !== null) return say('compare.differs', { name, how });
  const [unknown] = beside.notCompared;
  if (unknown === undefined) return null;
  const nodes = unknown.nodes.map((id) => `#${id}`).join(', ');
  const why =
    base.conclusion && conclusion ? say(`cases.notChecked.${unknown.why}`, { nodes }) : say('compare.noAnswer');
  return say('compare.unknown', { name, why });
}

function howItDiffers({ reading, beside, base, say }: Omit<Compared, 'conclusion'>): string | null {
  const { changes, first, parting, kind } = beside;
  const [mine, theirs] = [reading, base.reading].map(({ execution }) => execution.record.state);
  if (kind === 'unknown' && mine && theirs && mine !== theirs)
    return say('compare.how.state', { mine: say(`history.state.${mine}`), theirs: say(`history.state.${theirs}`) });
  const change = changes.find(({ part, after }) => part === 'error' && after !== null) ?? changes[0];
  const text = (value: string | null) => (value === null ? say('node.absent') : shortened(value));
  if (change?.part === 'error' && change.after !== null) return change.after;
  if (change) {
    const values = { mine: text(change.after), theirs: text(change.before) };
    return say(`compare.how.${change.part}`, { ...values, path: change.path });
  }
  if (kind === 'unknown') return null;
  if (first !== null) return say('compare.how.trace', { node: nodeWords(first, say) });
  return parting && say('compare.how.trace', { node: `#${parting.id} ${parting.name}` });
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
