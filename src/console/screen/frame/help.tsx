import { useEffect, useRef } from 'react';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { IconButton } from '../../ui/icon-button.tsx';

const keys: { text: TextKey; keys: string[] }[] = [
  { text: 'keys.run', keys: ['Ctrl', 'Enter'] },
  { text: 'keys.stop', keys: ['Esc'] },
  { text: 'keys.search', keys: ['/'] },
  { text: 'keys.executed', keys: ['e'] },
  { text: 'keys.next', keys: ['j'] },
  { text: 'keys.previous', keys: ['k'] },
  { text: 'keys.help', keys: ['?'] },
];

/** The sheet of keys. It lies over a corner of the page and keeps nothing from being used. */
export function Help({ onClose }: { onClose: () => void }) {
  const { say } = useText();
  const sheet = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    sheet.current?.querySelector('button')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <section
      className="help"
      ref={sheet}
      aria-labelledby="help-title"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <div className="help-head">
        <h2 id="help-title">{say('keys.title')}</h2>
        <IconButton icon="close" label={say('keys.close')} onPress={onClose} />
      </div>
      <dl>
        {keys.map(({ text, keys: names }) => (
          <div key={text}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{say(text)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
