import { useText } from '../../text/use-text.tsx';

type Props = { isOn: boolean; isPossible: boolean; onChoose: (isOn: boolean) => void };

/** Whether runs are to have no effects. It can be taken back also where no client can make a dry run. */
export function DrySwitch({ isOn, isPossible, onChoose }: Props) {
  const { say } = useText();
  return (
    <label className="dry-switch" title={isPossible ? undefined : say('dry.none')}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={!isOn && !isPossible}
        onChange={({ target }) => onChoose(target.checked)}
      />
      {say('dry.switch')}
    </label>
  );
}
