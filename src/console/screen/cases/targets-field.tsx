import type { Client } from '../../api/browse.ts';
import { EVERY_CLIENT } from '../../cases/targets.ts';
import { lanesOf } from '../../run/candidates.ts';
import { useText } from '../../text/use-text.tsx';
import { targetWords } from '../input/target-words.ts';

type Props = { targets: readonly string[]; clients: readonly Client[]; onTargets: (targets: string[]) => void };

/** Where the cases run: each target that is ticked is a column. */
export function TargetsField({ targets, clients, onTargets }: Props) {
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
