import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { modifierKey } from '../../ui/modifier-key.ts';
import { Sheet } from '../../ui/sheet.tsx';

const keys: { text: TextKey; keys: string[] }[] = [
  { text: 'keys.run', keys: [modifierKey(), 'Enter'] },
  { text: 'keys.stop', keys: ['Esc'] },
  { text: 'keys.search', keys: ['/'] },
  { text: 'keys.executed', keys: ['e'] },
  { text: 'keys.next', keys: ['j'] },
  { text: 'keys.previous', keys: ['k'] },
  { text: 'keys.compare', keys: ['c'] },
  { text: 'keys.find', keys: [modifierKey(), 'K'] },
  { text: 'keys.help', keys: ['?'] },
];

/** The keys of the page. */
export function Help({ onClose }: { onClose: () => void }) {
  const { say } = useText();
  return (
    <Sheet title={say('keys.title')} onClose={onClose}>
      <dl className="keys">
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
    </Sheet>
  );
}
