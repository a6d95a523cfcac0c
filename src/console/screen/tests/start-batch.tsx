import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { countRuns, EVERY_CLIENT, type How, isTyped, MANY_RUNS, withoutDryRun } from '../../cases/batch-call.ts';
import { runsThatFit } from '../../cases/inputs.ts';
import type { useStart } from '../../cases/use-batches.ts';
import { targetsOf } from '../../run/calls.ts';
import { useKept, useLacks } from '../../run/queries/use-service.ts';
import type { Source } from '../../state/location.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Select } from '../../ui/select.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { targetWords } from '../input/target.tsx';
import { calledWords } from '../tree/node-link.tsx';

type Props = {
  source: Source;
  /** The label of the button for real runs. */
  label: string;
  cases: number;
  /** How long their inputs are together. */
  inputCharacters: number;
  rule: RuleContext;
  targets: readonly string[];
  onTargets: (targets: string[]) => void;
  /** What else is chosen about the inputs. */
  children?: ReactNode;
  starting: ReturnType<typeof useStart>;
  onStart: (how: How) => void;
};

/** The head of the table of a batch: where its inputs run, with what each run is compared, and the buttons that begin it. */
export function BatchHead({ children, ...props }: Props) {
  const { source, rule, targets, onTargets } = props;
  const [chosen, setChosen] = useState<string | null>(null);
  const others = source === 'runs' || targets.length < 2 ? [] : targets.filter((target) => target !== EVERY_CLIENT);
  // Nothing is expected of an input.
  const usual = source === 'inputs' ? (others[0] ?? null) : null;
  const against = chosen !== null && others.includes(chosen) ? chosen : usual;
  return (
    <div className="inputs-start wrap">
      <TargetsField targets={targets} offered={targetsOf(rule.clients.data ?? [])} onTargets={onTargets} />
      <AgainstField source={source} others={others} against={against} onAgainst={setChosen} />
      {children}
      <StartBatch {...props} against={against} />
    </div>
  );
}

/** The buttons that run many cases, dry or for real, and what each will do, in numbers. Nothing else decides which of the two it is. */
function StartBatch(props: Omit<Props, 'children'> & { against: string | null }) {
  const { source, label, cases, inputCharacters, targets, against, rule, starting, onStart } = props;
  const { say, failed } = useText();
  const { busy, error } = starting;
  const clients = rule.clients.data ?? [];
  const recorded = source === 'runs';
  const cannot = useLacks()('run');
  const runs = countRuns(cases, targets, clients);
  const where = (some: readonly string[]) => some.map((target) => whereWords(target, say)).join(', ');
  const unable = withoutDryRun(targets, clients);
  const blocked = cannot ?? (busy || runs === 0);
  const noDry = unable.length > 0;
  return (
    <div className="start-batch">
      <Button
        className="button dry"
        blocked={blocked || noDry}
        aria-describedby="batch-dry"
        onPress={() => onStart({ targets, against, dryRun: true })}
      >
        <Icon name="play" size={14} />
        {say('dry.switch')}
      </Button>
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
        onStart={() => onStart({ targets, against, dryRun: false })}
      />
      <p id="batch-warning" className="muted">
        {cannot ?? (runs > 0 && warningOf(rule.occurrences, { runs, where: where(targets), say }))}
      </p>
      {runs > 0 && <RoomWords runs={runs} inputCharacters={(inputCharacters / cases) * runs} />}
      {error !== null && (
        <p className="notice bad" role="alert">
          {failed(error)}
        </p>
      )}
    </div>
  );
}

function RoomWords({ runs, inputCharacters }: { runs: number; inputCharacters: number }) {
  const { say } = useText();
  const { data } = useKept();
  const room = data === undefined ? null : runsThatFit(data.limits.bytes / 2, { runs, inputCharacters });
  if (room === null || room >= runs) return null;
  return <p className="notice warn">{say('cases.room', { n: runs, room })}</p>;
}

/** "10000 real runs on lane beta; they may call charge, coupon". */
function warningOf(
  occurrences: readonly Occurrence[],
  { runs, where, say }: { runs: number; where: string; say: Say },
): string {
  const calls = calledWords(occurrences, say);
  return calls === null
    ? say('cases.warning', { n: runs, where })
    : say('cases.warning.calls', { n: runs, where, calls });
}

function whereWords(target: string, say: Say): string {
  if (target === EVERY_CLIENT) return say('cases.where.every');
  return target === 'all' ? say('cases.where.all') : targetWords(target, say);
}

/** With what the runs of a batch are compared: with those they repeat, or with those of a target. */
export function againstWords(against: string, say: Say): string {
  return against === 'recorded' ? say('against.recorded') : say('against.target', { target: whereWords(against, say) });
}

type TargetsFieldProps = Pick<Props, 'targets' | 'onTargets'> & { offered: readonly string[] };

function TargetsField({ targets, offered, onTargets }: TargetsFieldProps) {
  const { say } = useText();
  const all = [...new Set([...offered, EVERY_CLIENT, ...targets])];
  const tick = (target: string, on: boolean) => {
    const next = all.filter((one) => (one === target ? on : targets.includes(one)));
    if (next.length > 0) onTargets(next);
  };
  return (
    <fieldset className="batch-targets wrap">
      <legend className="muted">{say('target.legend')}</legend>
      {all.map((target) => (
        <Check
          key={target}
          label={target === EVERY_CLIENT ? say('cases.targets.every') : targetWords(target, say)}
          checked={targets.includes(target)}
          onCheck={(on) => tick(target, on)}
        />
      ))}
    </fieldset>
  );
}

type AgainstProps = Pick<Props, 'source'> & {
  /** Targets whose runs the others can be compared with. */
  others: readonly string[];
  against: string | null;
  onAgainst: (against: string | null) => void;
};

/** With what each run is compared: with what its input expects, with the run that it repeats, or with the run of one of the targets. */
function AgainstField({ source, others, against, onAgainst }: AgainstProps) {
  const { say } = useText();
  const first = source === 'runs' ? againstWords('recorded', say) : say('against.expected');
  if (others.length === 0)
    return (
      <span className="muted">
        {say('against.label')}: {first}
      </span>
    );
  return (
    <label>
      {say('against.label')}{' '}
      <Select
        value={against ?? ''}
        options={[
          ...(source === 'cases' ? [['', first] as const] : []),
          ...others.map((target) => [target, againstWords(target, say)] as const),
        ]}
        onChoose={(target) => onAgainst(target || null)}
      />
    </label>
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
      <Button
        className={primary && !asked ? 'button primary' : 'button'}
        blocked={blocked}
        aria-expanded={recorded || runs > MANY_RUNS ? asked : undefined}
        aria-describedby={describedBy}
        onPress={press}
      >
        <Icon name={icon} size={14} />
        {label}
      </Button>
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
      className="confirm-real wrap notice warn"
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
      <Button label={say('cases.run.sure', { n: runs })} className="button primary" blocked={!isSure} />
      <Button label={say('save.cancel')} className="quiet" onPress={onCancel} />
    </form>
  );
}
