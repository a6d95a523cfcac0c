import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { inputInShort } from '../../run/input-words.ts';
import { type Place, printTarget, type Target } from '../../state/location.ts';
import { pinNode } from '../../state/preferences.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { Icon } from '../../ui/icon.tsx';
import { modifierKey } from '../../ui/keys.ts';
import type { RuleContext } from '../frame/use-rule.ts';
import type { DryRun, Run } from '../result/use-run.ts';
import { calledWords } from '../tree/node-link.tsx';
import { targetWords } from './target.tsx';
import type { AsOfInput } from './use-as-of.ts';
import type { Input } from './use-input.ts';

type Props = { run: Run; rule: RuleContext; input: Input; blocked: string | null };

const MAX_SHORT = 80;

/** The button everything is about, and what it will do. */
export function RunBar({ run, rule, input, blocked }: Props) {
  const { say } = useText();
  const busy = run.sending || run.isOpen;
  const { dry } = run;
  return (
    <div className="run-bar">
      <WhoseInput input={input} />
      <DrySwitch isOn={dry.isOn} isPossible={dry.isPossible} onChoose={dry.choose} />
      {dry.isOn && <PinnedNodes run={run} />}
      <p id="run-hint">{blocked ?? (dry.isOn ? say('dry.hint') : whatItCalls(rule.occurrences, say))}</p>
      <Button
        className={dry.isOn ? 'button dry' : 'button primary'}
        blocked={blocked ?? busy}
        aria-describedby="run-hint"
        onPress={() => void run.start()}
      >
        <Icon name="play" />
        {say(dry.isOn ? 'dry.switch' : 'run.button')}
        <kbd>{modifierKey() === '⌘' ? '⌘⏎' : 'Ctrl ⏎'}</kbd>
      </Button>
    </div>
  );
}

type HereProps = { place: Place; run: Run; input: Input; blocked: string | null; onInput: () => void };

/** On a narrow screen, below the result: what runs, in short, and the button that runs it. */
export function RunHere({ place, run, input, blocked, onInput }: HereProps) {
  const { say } = useText();
  const busy = run.sending || run.isOpen;
  const short = inputInShort(input.text, MAX_SHORT) ?? say('nav.input');
  const words = [short, targetWords(printTarget(place.target), say)].filter((word) => word !== '').join(' · ');
  return (
    <div className="run-here">
      <Button label={words} className="quiet cut" title={words} onPress={onInput} />
      <Button
        label={say(run.dry.isOn ? 'dry.switch' : 'run.button')}
        className={run.dry.isOn ? 'button dry' : 'button primary'}
        blocked={blocked ?? busy}
        onPress={() => void run.start()}
      />
    </div>
  );
}

/** The nodes in whose place something stands, each to be taken out again. */
function PinnedNodes({ run: { dry, call } }: Pick<Props, 'run'>) {
  const { say } = useText();
  const pins = Object.entries(dry.pins);
  if (pins.length === 0) return null;
  return (
    <p className="pinned-nodes">
      {say('dry.pinned')}{' '}
      {pins.map(([id, outcome]) => (
        <Button
          className="quiet"
          key={id}
          title={say('dry.unpin', { id })}
          onPress={() => pinNode(call().app, id, null)}
        >
          {say('dry.pin', { id, outcome: say(`outcome.${outcome}`) })} ×
        </Button>
      ))}
    </p>
  );
}

/** Where the values come from, until the reader types. Here, because above the fields its end would move them. */
function WhoseInput({ input }: Pick<Props, 'input'>) {
  const { say } = useText();
  if (input.replaced !== null)
    return (
      <p className="notice">
        {say('input.replaced')} <Button label={say('input.undo')} className="quiet" onPress={input.takeBack} />
      </p>
    );
  return input.isExample ? <p className="notice">{say('input.example')}</p> : null;
}

/** Why Run cannot be pressed, in words, or null. */
export function blockedBecause({
  place,
  input,
  asOf,
  rule,
  dry,
  say,
}: {
  place: Place;
  input: Input;
  asOf: AsOfInput;
  rule: RuleContext;
  dry: DryRun;
  say: Say;
}): string | null {
  if (place.app === null || (place.ruleId === null && place.confId === null)) return say('run.blocked.rule');
  if (input.waiting) return say('run.blocked.input');
  if (input.read.kind === 'bad') return say('run.blocked.json');
  if (input.read.root.kind !== 'object') return say('input.notObject');
  if (asOf.bad) return say('run.blocked.asOf');
  const [bad] = input.bad;
  if (bad) return say('run.blocked.field', { key: bad.key, problem: say(`input.problem.${bad.problem}`) });
  return noTarget(place.target, rule, say) ?? (dry.isOn && !dry.isPossible ? say('dry.blocked') : null);
}

function noTarget(target: Target, { clients }: RuleContext, say: Say): string | null {
  switch (target.kind) {
    case 'all':
      return null;
    case 'lane':
      return target.lane === '' ? say('run.blocked.lane') : null;
    case 'address':
      return target.address === '' ? say('run.blocked.address') : null;
    case 'each':
      return clients.data?.some(({ online }) => online) ? null : say('run.blocked.each');
  }
}

function whatItCalls(occurrences: readonly Occurrence[], say: Say): string {
  const names = calledWords(occurrences, say);
  return names === null ? say('run.real') : say('run.real.calls', { names });
}

type DrySwitchProps = { isOn: boolean; isPossible: boolean; onChoose: (isOn: boolean) => void };

/** Whether runs are to have no effects. It can be taken back also where no client can make a dry run. */
function DrySwitch({ isOn, isPossible, onChoose }: DrySwitchProps) {
  const { say } = useText();
  return (
    <Check
      label={say('dry.switch')}
      title={isPossible ? undefined : say('dry.none')}
      checked={isOn}
      disabled={!isOn && !isPossible}
      onCheck={onChoose}
    />
  );
}
