import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { Button } from './button.tsx';

type Tab<Name extends string> = { name: Name; title: string };

type Props<Name extends string> = {
  label: string;
  tabs: readonly Tab<Name>[];
  chosen: Name;
  onChoose: (name: Name) => void;
  children: ReactNode;
  /** The end of the line of tabs. */
  aside?: ReactNode;
  /** Whether the panel begins with something that takes the focus; then the panel itself is no stop (ARIA APG, tabs). */
  startsWithField?: boolean;
};

/** Tabs and the panel of the chosen one; arrow keys go from tab to tab (ARIA APG, tabs with automatic activation). */
export function Tabs<Name extends string>(props: Props<Name>) {
  const { label, tabs, chosen, onChoose, children, aside, startsWithField = false } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  const onKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex(({ name }) => name === chosen);
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChoose(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };

  return (
    <div className="tabs">
      <div className="tab-line line">
        <div className="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
          {tabs.map(({ name, title }) => (
            <Button
              className=""
              label={title}
              role="tab"
              key={name}
              data-tab={name}
              id={`${id}-${name}`}
              aria-selected={name === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={name === chosen ? 0 : -1}
              onPress={() => onChoose(name)}
            />
          ))}
        </div>
        {aside}
      </div>
      <div
        className="tab-panel"
        role="tabpanel"
        tabIndex={startsWithField ? undefined : 0}
        id={`${id}-panel`}
        aria-labelledby={`${id}-${chosen}`}
      >
        {children}
      </div>
    </div>
  );
}
