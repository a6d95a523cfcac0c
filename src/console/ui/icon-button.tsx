import { Icon, type IconName } from './icon.tsx';

type Props = {
  icon: IconName;
  label: string;
  onPress: () => void;
  disabled?: boolean;
  /** Given for a button that switches something on and off. */
  pressed?: boolean;
  tabIndex?: number;
};

/** A button that shows a drawing alone; its name is its tooltip. */
export function IconButton({ icon, label, onPress, disabled = false, pressed, tabIndex }: Props) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      tabIndex={tabIndex}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
