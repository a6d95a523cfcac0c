import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { modifierKey } from '../../ui/keys.ts';
import { Sheet } from '../../ui/sheet.tsx';
import { places } from './views.tsx';

const keys: { text: TextKey; keys: string[] }[] = [
  { text: 'keys.run', keys: [modifierKey(), 'Enter'] },
  { text: 'keys.stop', keys: ['Esc'] },
  { text: 'keys.search', keys: ['/'] },
  { text: 'keys.executed', keys: ['e'] },
  { text: 'keys.next', keys: ['j'] },
  { text: 'keys.previous', keys: ['k'] },
  { text: 'keys.compare', keys: ['c'] },
  ...places.map(({ title, key }) => ({ text: title, keys: ['g', key] })),
  { text: 'keys.find', keys: [modifierKey(), 'K'] },
  { text: 'keys.help', keys: ['?'] },
];

const signs: { text: TextKey; sign: IconName | TextKey | 'AND' }[] = [
  { sign: 'test', text: 'legend.test' },
  { sign: 'bolt', text: 'legend.action' },
  { sign: 'AND', text: 'legend.relation' },
  { sign: 'trace.relation.true', text: 'legend.constant' },
  { sign: 'trace.condition', text: 'trace.condition.hint' },
  { sign: 'trace.inverted', text: 'legend.inverted' },
  { sign: 'clock', text: 'legend.window' },
  { sign: 'trace.assumed', text: 'legend.assumed' },
  { sign: 'tree.decided', text: 'legend.decided' },
];

/** The keys of the page, and the signs of the tree. */
export function Help({ onClose }: { onClose: () => void }) {
  const { say } = useText();
  return (
    <Sheet title={say('header.help')} onClose={onClose}>
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
      <h3>{say('legend.title')}</h3>
      <dl className="keys">
        {signs.map(({ sign, text }) => (
          <div key={sign}>
            <dt>
              {isIcon(sign) ? <Icon name={sign} /> : <span className="tag">{sign === 'AND' ? sign : say(sign)}</span>}
            </dt>
            <dd>{say(text)}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

const isIcon = (sign: (typeof signs)[number]['sign']): sign is IconName =>
  sign === 'test' || sign === 'bolt' || sign === 'clock';
