import { useEffect } from 'react';
import { type Command, command } from './commands.ts';

/** By what the key writes, so that `?` and `/` are found on every keyboard. None of these runs a rule: a slip must not. */
const letters: ReadonlyMap<string, Command> = new Map([
  ['c', 'compare'],
  ['e', 'executed'],
  ['j', 'next'],
  ['k', 'previous'],
  ['/', 'search'],
  ['?', 'help'],
]);

/** Keys of the whole page. Letters are left to whoever types; Ctrl or ⌘ with Enter runs from anywhere. */
export function useKeys(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const asked = commandOf(event);
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
  // The editor stands in a shadow tree: the path leads to what is really typed into.
  const [target] = event.composedPath();
  if (event.altKey || (target instanceof HTMLElement && isTypedInto(target))) return undefined;
  return letters.get(event.key);
}

function isTypedInto(element: HTMLElement): boolean {
  if (element.isContentEditable || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)
    return true;
  return element instanceof HTMLInputElement && element.type !== 'checkbox' && element.type !== 'radio';
}
