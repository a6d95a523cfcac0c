import { useEffect } from 'react';
import { type Command, command } from './commands.ts';
import { places } from './views.tsx';

/** By what the key writes, so that `?` and `/` are found on every keyboard. None of these runs a rule: a slip must not. */
const letters: ReadonlyMap<string, Command> = new Map([
  ['c', 'compare'],
  ['e', 'executed'],
  ['j', 'next'],
  ['k', 'previous'],
  ['/', 'search'],
  ['?', 'help'],
]);

const goKeys = new Set(places.map(({ key }) => key));

/** A place is named by two keys: `g`, and within this time its own. */
const GO_MS = 1500;

/** Keys of the whole page. Letters are left to whoever types; Ctrl or ⌘ with Enter runs from anywhere. */
export function useKeys(): void {
  useEffect(() => {
    let wentAt = Number.NEGATIVE_INFINITY;
    const listen = (event: KeyboardEvent) => {
      const isGoing = event.timeStamp - wentAt < GO_MS;
      wentAt = Number.NEGATIVE_INFINITY;
      const letter = letterOf(event);
      if (letter === 'g') {
        wentAt = event.timeStamp;
        return;
      }
      const asked = isGoing && letter !== null && goKeys.has(letter) ? (`go ${letter}` as const) : commandOf(event);
      if (asked === undefined || event.defaultPrevented) return;
      if (asked !== 'stop') event.preventDefault();
      command(asked);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}

function commandOf(event: KeyboardEvent): Command | undefined {
  if (event.repeat && event.key !== 'j' && event.key !== 'k') return undefined;
  if (event.key === 'Escape') return 'stop';
  if (event.ctrlKey || event.metaKey) return event.key === 'Enter' ? 'run' : event.key === 'k' ? 'find' : undefined;
  return letters.get(letterOf(event) ?? '');
}

/** The letter that a key writes, where nobody types into a field. */
function letterOf(event: KeyboardEvent): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  // The editor stands in a shadow tree: the path leads to what is really typed into.
  const [target] = event.composedPath();
  return target instanceof HTMLElement && isTypedInto(target) ? null : event.key;
}

function isTypedInto(element: HTMLElement): boolean {
  if (element.isContentEditable || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)
    return true;
  return element instanceof HTMLInputElement && element.type !== 'checkbox' && element.type !== 'radio';
}
