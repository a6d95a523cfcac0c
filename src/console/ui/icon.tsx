import { Button } from './button.tsx';

/** Line drawings on a 16 × 16 grid. */
const drawings = {
  chevron: 'M6 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  play: 'M5 3.2v9.6l8-4.8z',
  stop: 'M4.5 4.5h7v7h-7z',
  copy: 'M6 6V3.5h6.5V10H10M3.5 6H10v6.5H3.5z',
  check: 'M3.5 8.5l3 3 6-7',
  link: 'M7 9.5l3-3M6.2 7.6L4.6 9.2a1.9 1.9 0 0 0 2.7 2.7l1.6-1.6M9.8 8.4l1.6-1.6a1.9 1.9 0 0 0-2.7-2.7L7.1 5.7',
  terminal: 'M3.5 5l3 3-3 3M8 11.5h4.5',
  again: 'M12.5 8a4.5 4.5 0 1 1-1.4-3.2M12.6 2.6v2.6H10',
  search: 'M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.4 10.4l3 3',
  close: 'M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6',
  plus: 'M8 3.5v9M3.5 8h9',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M3.5 12.5l.8-.8M11.7 4.3l.8-.8',
  moon: 'M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6z',
  screen: 'M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13',
  keyboard: 'M1.8 4h12.4v8H1.8zM4.4 6.5h.1M7 6.5h.1M9.4 6.5h.1M11.8 6.5h.1M5 9.5h6',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3.2l2 1.3',
  calendar: 'M2.8 4h10.4v9H2.8zM2.8 6.8h10.4M5.4 2.6v2.2M10.6 2.6v2.2',
  warning: 'M8 2.6l6 10.6H2zM8 6.6v3M8 11.4v.1',
  info: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 7.4v3.4M8 5.2v.1',
  bolt: 'M8.8 2L4 9h3.4l-.4 5L12 7H8.4z',
  test: 'M8 2.6L13.4 8 8 13.4 2.6 8z',
  dot: 'M8 9.4a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8z',
  exit: 'M6.5 3H3.5v10h3M7 8h6M10.6 5.6L13 8l-2.4 2.4',
  save: 'M8 2.8v7M5 7l3 3 3-3M3 12.8h10',
  minus: 'M4 8h8',
  up: 'M4 10l4-4 4 4',
  pin: 'M6 2.8h4l-.6 4 2.1 2.2h-7l2.1-2.2zM8 9v4.4',
} as const;
export type IconName = keyof typeof drawings;

/** A drawing beside a word; the word is what screen readers say. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  );
}

type Props = {
  icon: IconName;
  label: string;
  /** What the tooltip says beside its name. */
  hint?: string;
  onPress: () => void;
  disabled?: boolean;
  /** Given for a button that switches something on and off. */
  pressed?: boolean;
  tabIndex?: number;
};

/** A button that shows a drawing alone; its name is its tooltip. */
export function IconButton({ icon, label, hint, onPress, disabled = false, pressed, tabIndex }: Props) {
  return (
    <Button
      className="icon-button"
      aria-label={label}
      title={hint === undefined ? label : `${label}. ${hint}`}
      aria-pressed={pressed}
      disabled={disabled}
      tabIndex={tabIndex}
      onPress={onPress}
    >
      <Icon name={icon} />
    </Button>
  );
}
