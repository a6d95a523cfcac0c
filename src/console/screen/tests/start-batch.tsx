import { useEffect, useId, useRef, useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import { type Failure, Refused } from '../../api/request.ts';
import { runsThatFit } from '../../cases/inputs.ts';
import { countRuns, EVERY_CLIENT, isTyped, MANY_RUNS, withoutDryRun } from '../../cases/targets.ts';
import { lanesOf } from '../../run/candidates.ts';
import { useKept } from '../../run/queries/use-service.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { useLacks } from '../frame/use-may.ts';
import { targetWords } from '../input/target-words.ts';
import { calledWords } from '../tree/node-link.tsx';

type Props = {
  /** The label of the button for real runs. */
  label: string;
  cases: number;
  /** How long their inputs are together. */
  inputCharacters: number;
  targets: readonly string[];
  clients: readonly Client[];
  occurrences: readonly Occurrence[];
  /** The inputs are those of earlier runs. */
  recorded?: boolean;
  busy: boolean;
  error: Error | null;
  onStart: (how: { dryRun: boolean }) => void;
};

/** The buttons that run many cases, dry or for real, and what each will do, in numbers. Nothing else decides which of the two it is. */
export function StartBatch(props: Props) {
  const { label, cases, inputCharacters, targets, clients, recorded = false, busy, error, onStart } = props;
  const { say, ofService } = useText();
  const cannot = useLacks()('run');
  const runs = countRuns(cases, targets, clients);
  const where = (some: readonly string[]) => some.map((target) => whereWords(target, say)).join(', ');
  const unable = withoutDryRun(targets, clients);
  const blocked = cannot ?? (busy || runs === 0);
  const noDry = unable.length > 0;
  return (
    <div className="start-batch">
      <button
        type="button"
        className="button dry"
        aria-disabled={blocked !== false || noDry}
        aria-describedby="batch-dry"
        onClick={() => blocked === false && !noDry && onStart({ dryRun: true })}
      >
        <Icon name="play" size={14} />
        {say('dry.button')}
      </button>
      <p id="batch-dry" className={noDry ? 'notice warn' : 'muted'}>
        {noDry
          ? say('cases.warning.noDry', { where: where(unable) })
          : runs > 0 && say('cases.warning.dry', { n: runs, where: where(targets) })}
      </p>
      <RealRuns
        label={label}
        icon="play"
        runs={runs}
        recorded={recorded}
        primary={!recorded}
        blocked={blocked}
        describedBy="batch-warning"
        onStart={() => onStart({ dryRun: false })}
      />
      <p id="batch-warning" className="muted">
        {cannot ?? (runs > 0 && warningOf(props, { runs, where: where(targets), say }))}
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
  const room = data === undefined ? null : runsThatFit(data.limits.bytes / 2, { runs, inputCharacters });
  if (room === null || room >= runs) return null;
  return <p className="notice warn">{say('cases.room', { n: runs, room })}</p>;
}

/** "10000 real runs on lane beta; they may call charge, coupon". */
function warningOf(
  { occurrences }: Pick<Props, 'occurrences'>,
  { runs, where, say }: { runs: number; where: string; say: Say },
): string {
  const calls = calledWords(occurrences, say);
  return calls === null
    ? say('cases.warning', { n: runs, where })
    : say('cases.warning.calls', { n: runs, where, calls });
}

/** A target inside of a sentence. */
function whereWords(target: string, say: Say): string {
  if (target === EVERY_CLIENT) return say('cases.where.every');
  return target === 'all' ? say('cases.where.all') : targetWords(target, say);
}

/** The mistakes that the service found, field by field. */
function problemWords(error: Error, say: Say, ofService: (failure: Failure) => string): string {
  if (!(error instanceof Refused)) return say('failed.unreachable');
  if (error.fields.length === 0) return ofService(error.failure);
  return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
}

type TargetsFieldProps = {
  targets: readonly string[];
  clients: readonly Client[];
  onTargets: (targets: string[]) => void;
};

/** Where the cases run: each target that is ticked is a column. */
export function TargetsField({ targets, clients, onTargets }: TargetsFieldProps) {
  const { say } = useText();
  const lanes = lanesOf(clients).map((lane) => `lane:${lane}`);
  const offered = [...new Set(['all', ...lanes, EVERY_CLIENT, ...targets])];
  const tick = (target: string, on: boolean) => {
    const next = offered.filter((one) => (one === target ? on : targets.includes(one)));
    if (next.length > 0) onTargets(next);
  };
  return (
    <fieldset className="batch-targets">
      <legend>{say('cases.targets')}</legend>
      {offered.map((target) => (
        <label key={target}>
          <input
            type="checkbox"
            checked={targets.includes(target)}
            onChange={(event) => tick(target, event.target.checked)}
          />
          {target === EVERY_CLIENT ? say('cases.targets.every') : targetWords(target, say)}
        </label>
      ))}
    </fieldset>
  );
}

type RealRunsProps = {
  label: string;
  icon: IconName;
  runs: number;
  /** The inputs are those of earlier runs: real runs would do to customers again what was done before. */
  recorded: boolean;
  primary?: boolean;
  /** Why nothing can be started now, or that it cannot. */
  blocked: string | boolean;
  describedBy?: string;
  onStart: () => void;
};

/**
 * The button that starts real runs. Many of them, and any from records, are confirmed by their number, typed into a form of its own: a
 * second click on the button confirms nothing.
 */
export function RealRuns({
  label,
  icon,
  runs,
  recorded,
  primary = false,
  blocked,
  describedBy,
  onStart,
}: RealRunsProps) {
  const [asked, setAsked] = useState(false);
  const start = () => {
    setAsked(false);
    onStart();
  };
  const press = () => (recorded || runs > MANY_RUNS ? setAsked(true) : start());
  return (
    <>
      <button
        type="button"
        className={primary && !asked ? 'button primary' : 'button'}
        aria-disabled={blocked !== false}
        aria-expanded={recorded || runs > MANY_RUNS ? asked : undefined}
        aria-describedby={describedBy}
        title={typeof blocked === 'string' ? blocked : undefined}
        onClick={() => blocked === false && press()}
      >
        <Icon name={icon} size={14} />
        {label}
      </button>
      {asked && (
        <Confirmation runs={runs} blocked={blocked !== false} onStart={start} onCancel={() => setAsked(false)} />
      )}
    </>
  );
}

type ConfirmationProps = { runs: number; blocked: boolean; onStart: () => void; onCancel: () => void };

function Confirmation({ runs, blocked, onStart, onCancel }: ConfirmationProps) {
  const { say } = useText();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  useEffect(() => field.current?.focus(), []);
  const isSure = isTyped(typed, runs) && !blocked;
  return (
    <form
      className="confirm-real notice warn"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSure) onStart();
      }}
    >
      <label htmlFor={id}>{say('cases.run.type', { n: runs })}</label>
      <input
        id={id}
        ref={field}
        inputMode="numeric"
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <button type="submit" className="button primary" aria-disabled={!isSure}>
        {say('cases.run.sure', { n: runs })}
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        {say('cases.run.not')}
      </button>
    </form>
  );
}
