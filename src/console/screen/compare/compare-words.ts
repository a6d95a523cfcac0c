import { compactJson } from '../../../shared/json-tree/print-json.ts';
import type { Json } from '../../../shared/json-tree/read-json.ts';
import { shortened } from '../../../shared/reasoning/words/fact-words.ts';
import type { Client } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import { diffJson } from '../../json/diff-json.ts';
import type { Group } from '../../run/compare.ts';
import type { Reading } from '../../run/reading.ts';
import { versionRan } from '../../run/rules-of-run.ts';
import type { Say } from '../../text/use-text.tsx';
import { sdkKey } from '../input/target-now.tsx';

const MAX_VERDICTS = 3;

type Summary = {
  open: number;
  base: Group<string> | undefined;
  others: Group<string>[];
  say: Say;
  nameOf: (reading: Reading) => string;
};

/** The verdict so far, and how many are not in it yet. */
export function summary({ open, base, others, say, nameOf }: Summary): string {
  const waiting = open > 0 ? [say('compare.running', { n: open })] : [];
  if (!base) return waiting.join(' ');
  if (others.length === 0) return [...(base.runs.length > 1 ? [say('compare.equal')] : []), ...waiting].join(' ');
  const verdicts = others.slice(0, MAX_VERDICTS).map((group) => {
    const names = group.runs.map(({ reading }) => nameOf(reading)).join(', ');
    return say('compare.differs', { name: names, how: howItDiffers(group.reading, base.reading, say) });
  });
  return [...verdicts, ...waiting].join(' ');
}

function howItDiffers(reading: Reading, base: Reading, say: Say): string {
  const [mine, theirs] = [reading, base].map(({ decision }) => decision);
  if (reading.result?.error && reading.result.error !== base.result?.error) return reading.result.error;
  if (mine && theirs && mine !== theirs) return say('compare.how.decision', { mine, theirs });
  const [change] =
    base.after && reading.after
      ? diffJson(base.after, reading.after).changes.filter(({ kind }) => kind !== 'same')
      : [];
  if (!change) return say('compare.how.trace');
  const text = (json: Json | null) => (json ? shortened(compactJson(json)) : say('node.absent'));
  return say('compare.how.data', { path: change.path, mine: text(change.after), theirs: text(change.before) });
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
