import type { ButtonHTMLAttributes } from 'react';

type Props = Pick<ButtonHTMLAttributes<HTMLButtonElement>, 'aria-describedby' | 'aria-expanded' | 'children'> & {
  look?: 'dry' | 'primary' | '';
  /** That it cannot be pressed now, or why. Not `disabled`: that would take the focus away while something runs. */
  blocked: string | boolean;
  onPress: () => void;
};

/** A button that can be reached also while it cannot be pressed. */
export function PressButton({ look = '', blocked, onPress, ...props }: Props) {
  return (
    <button
      type="button"
      {...props}
      className={`button ${look}`.trim()}
      aria-disabled={blocked !== false}
      title={typeof blocked === 'string' ? blocked : undefined}
      onClick={() => blocked === false && onPress()}
    />
  );
}
