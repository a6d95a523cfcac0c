import { useEffect, useId, useRef, useState } from 'react';
import { isTyped, MANY_RUNS } from '../../cases/targets.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';

type Props = {
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
export function RealRuns({ label, icon, runs, recorded, primary = false, blocked, describedBy, onStart }: Props) {
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
        className={primary && !asked ? 'button primary small' : 'button small'}
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
      <button type="submit" className="button primary small" aria-disabled={!isSure}>
        {say('cases.run.sure', { n: runs })}
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        {say('cases.run.not')}
      </button>
    </form>
  );
}
