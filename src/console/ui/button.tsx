import type { ButtonHTMLAttributes } from 'react';

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'onClick'> & {
  /** Its words, where it has nothing else. */
  label?: string;
  /** That it cannot be pressed now, or why. Not `disabled`: that would take the focus away while something runs. */
  blocked?: string | boolean;
  /** A button that does nothing itself submits its form, which judges whether it may. */
  onPress?: () => void;
};

/** A button that can be reached also while it cannot be pressed. `className`: its look; empty where what is around it gives it one. */
export function Button({ className = 'button', label, blocked, onPress, children, ...props }: Props) {
  return (
    <button
      title={typeof blocked === 'string' ? blocked : undefined}
      {...props}
      type={onPress ? 'button' : 'submit'}
      className={className}
      aria-disabled={blocked === undefined ? undefined : blocked !== false}
      onClick={() => (blocked === undefined || blocked === false) && onPress?.()}
    >
      {label ?? children}
    </button>
  );
}
