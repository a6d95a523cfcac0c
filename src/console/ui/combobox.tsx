import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

export type Option = { id: string; title: string; detail?: string | undefined; dimmed?: boolean };

type Props = {
  label: string;
  /** The chosen entry, in words; empty when there is none. */
  shown: string;
  placeholder: string;
  options: readonly Option[];
  chosen: string | null;
  onChoose: (id: string) => void;
  /** An option made of what was typed, when that can be chosen too. */
  custom?: (typed: string) => Option | null;
  nothing: string;
  warn?: boolean;
};

const MAX_SHOWN = 100;

/** A field that finds one of many by what is typed (ARIA APG, editable combobox with list autocomplete). */
export function Combobox({ label, shown, placeholder, options, chosen, onChoose, custom, nothing, warn }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  /** Null while closed: then the field shows what is chosen. */
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);

  const open = typed !== null;
  const found = open ? matching(options, typed) : [];
  const own = open && custom ? custom(typed.trim()) : null;
  const offered = own && !found.some((option) => option.id === own.id) ? [...found, own] : found;

  const show = () => {
    setTyped('');
    setActive(
      Math.max(
        0,
        options.findIndex((option) => option.id === chosen),
      ),
    );
  };
  const close = () => setTyped(null);
  const choose = (option: Option | undefined) => {
    if (!option) return;
    close();
    onChoose(option.id);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!open) return show();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      move((active + step + offered.length) % Math.max(1, offered.length));
    } else if (event.key === 'Enter' && open) {
      event.preventDefault();
      event.stopPropagation();
      choose(offered[active]);
    } else if (event.key === 'Escape' && open) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  const move = (to: number) => {
    setActive(to);
    document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: 'nearest' });
  };

  return (
    <div className={warn ? 'combobox warn' : 'combobox'}>
      <input
        ref={input}
        role="combobox"
        aria-label={label}
        aria-expanded={open}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={open && offered.length > 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={typed ?? shown}
        placeholder={open && shown !== '' ? shown : placeholder}
        onChange={({ target }) => {
          setTyped(target.value);
          setActive(0);
        }}
        onFocus={({ target }) => target.select()}
        onClick={() => !open && show()}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <Icon name="down" size={14} />
      <div className="options" role="listbox" id={`${id}-list`} aria-label={label} hidden={!open}>
        {offered.map((option, index) => (
          <div
            role="option"
            key={option.id}
            id={`${id}-${index}`}
            aria-selected={option.id === chosen}
            className={`option${index === active ? ' active' : ''}${option.dimmed ? ' dimmed' : ''}`}
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => setActive(index)}
            onClick={() => choose(option)}
          >
            <span>{option.title}</span>
            {option.detail && <small>{option.detail}</small>}
          </div>
        ))}
        {open && offered.length === 0 && <p className="nothing">{nothing}</p>}
      </div>
    </div>
  );
}

function matching(options: readonly Option[], typed: string): Option[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ title, detail = '', id }: Option) => `${title} ${detail} ${id}`.toLowerCase();
  const found = options.filter((option) => words.every((word) => textOf(option).includes(word)));
  // Whoever types a number means that number, and not one that it is a part of.
  const isNamed = (option: Option) =>
    words.some((word) =>
      textOf(option)
        .split(/[\s·]+/)
        .includes(`#${word}`),
    );
  const [named, others] = [found.filter(isNamed), found.filter((option) => !isNamed(option))];
  return [...named, ...others].slice(0, MAX_SHOWN);
}
