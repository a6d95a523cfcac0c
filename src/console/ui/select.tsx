import type { SelectHTMLAttributes } from 'react';

type Props<Value extends string> = Pick<SelectHTMLAttributes<HTMLSelectElement>, 'id' | 'className' | 'aria-label'> & {
  /** Where no option has this value, the first one is shown. */
  value: Value;
  /** Each value and its words. */
  options: readonly (readonly [value: Value, words: string])[];
  onChoose: (value: Value) => void;
};

/** One of some values, by their words. */
export function Select<Value extends string>({ options, onChoose, ...props }: Props<Value>) {
  return (
    <select
      {...props}
      onChange={({ target }) => {
        const chosen = options[target.selectedIndex];
        if (chosen) onChoose(chosen[0]);
      }}
    >
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}
