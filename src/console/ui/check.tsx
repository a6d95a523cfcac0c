import type { ReactNode } from 'react';

type Props = {
  label: ReactNode;
  checked: boolean;
  onCheck: (checked: boolean) => void;
  disabled?: boolean;
  title?: string | undefined;
};

/** A choice of yes or no, with its words. */
export function Check({ label, checked, onCheck, disabled, title }: Props) {
  return (
    <label className="switch line" title={title}>
      <input type="checkbox" checked={checked} disabled={disabled} onChange={({ target }) => onCheck(target.checked)} />
      {label}
    </label>
  );
}
