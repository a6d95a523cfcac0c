import { useState } from 'react';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import { Refused } from '../../api/request.ts';
import { runsThatFit } from '../../cases/inputs/room.ts';
import { countRuns, EVERY_CLIENT, MANY_RUNS } from '../../cases/targets.ts';
import { useKept } from '../../run/queries/use-service.ts';
import { chooseDry } from '../../state/preferences.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useLacks } from '../frame/use-may.ts';
import { DrySwitch } from '../input/dry-switch.tsx';
import { targetWords } from '../input/target-words.ts';

type Props = {
  app: string | null;
  /** The label of the button. */
  label: string;
  cases: number;
  /** How long their inputs are together. */
  inputCharacters: number;
  targets: readonly string[];
  clients: readonly Client[];
  occurrences: readonly Occurrence[];
  dryRun: boolean;
  busy: boolean;
  error: Error | null;
  onStart: () => void;
};

const MAX_NAMED = 3;

/** The button that runs many cases, and what it will do, in numbers. Many real runs are asked for a second time. */
export function StartBatch(props: Props) {
  const { app, label, cases, inputCharacters, targets, clients, occurrences, dryRun, busy, error, onStart } = props;
  const { say, ofService } = useText();
  const cannot = useLacks()('run');
  const [asked, setAsked] = useState(false);
  const runs = countRuns(cases, targets, clients);
  const warning = warningOf({ runs, targets, occurrences, dryRun, say });
  const press = () => {
    if (runs > MANY_RUNS && !dryRun && !asked) return setAsked(true);
    setAsked(false);
    onStart();
  };
  return (
    <div className="start-batch">
      <DrySwitch
        isOn={dryRun}
        isPossible={clients.some((client) => client.online && client.dryRun)}
        onChoose={(isDry) => chooseDry(app, isDry)}
      />
      <button
        type="button"
        className="button primary small"
        aria-disabled={busy || runs === 0 || cannot !== null}
        aria-describedby="batch-warning"
        onClick={() => !busy && runs > 0 && cannot === null && press()}
      >
        <Icon name="play" size={14} />
        {asked ? say('cases.run.sure', { n: runs }) : label}
      </button>
      {asked && (
        <button type="button" className="quiet" onClick={() => setAsked(false)}>
          {say('cases.run.not')}
        </button>
      )}
      <p id="batch-warning" className={asked ? 'notice warn' : 'muted'} role={asked ? 'alert' : undefined}>
        {cannot ?? (runs > 0 && warning)}
      </p>
      {runs > 0 && <RoomWords runs={runs} inputCharacters={(inputCharacters / cases) * runs} />}
      {error && (
        <p className="notice bad" role="alert">
          {problemWords(error, say, ofService)}
        </p>
      )}
    </div>
  );
}

/** Before the start: how many of so many runs can be opened one by one afterwards. What each of them came to is kept in any case. */
function RoomWords({ runs, inputCharacters }: { runs: number; inputCharacters: number }) {
  const { say } = useText();
  const { data } = useKept();
  const room = data === undefined ? null : runsThatFit(data.bytesOfBatches, { runs, inputCharacters });
  if (room === null || room >= runs) return null;
  return <p className="notice warn">{say('cases.room', { n: runs, room })}</p>;
}

type About = Pick<Props, 'targets' | 'occurrences' | 'dryRun'> & { runs: number; say: Say };

/** "10000 real runs on lane beta; they may call charge, coupon". */
function warningOf({ runs, targets, occurrences, dryRun, say }: About): string {
  const where = targets.map((target) => whereWords(target, say)).join(', ');
  if (dryRun) return say('cases.warning.dry', { n: runs, where });
  const named = new Set(occurrences.filter(({ node }) => node.type === 'LeafResult').map(({ node }) => nameOf(node)));
  if (named.size === 0) return say('cases.warning', { n: runs, where });
  const names = [...named]
    .slice(0, MAX_NAMED)
    .map((name) => say('run.real.quoted', { name }))
    .join(', ');
  const more = named.size - MAX_NAMED;
  const calls = more > 0 ? say('run.real.more', { names, n: more }) : names;
  return say('cases.warning.calls', { n: runs, where, calls });
}

/** A target inside of a sentence. */
function whereWords(target: string, say: Say): string {
  if (target === EVERY_CLIENT) return say('cases.where.every');
  return target === 'all' ? say('cases.where.all') : targetWords(target, say);
}

/** The mistakes that the service found, field by field. */
function problemWords(error: Error, say: Say, ofService: (sentence: string) => string): string {
  if (!(error instanceof Refused)) return say('failed.unreachable');
  if (error.fields.length === 0) return ofService(error.message);
  return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
}
