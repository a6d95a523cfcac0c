import { useEffect } from 'react';
import { tinykeys } from 'tinykeys';
import { type Command, command } from './commands.ts';

/** Keys of the whole page. Letters are left to whoever types; Ctrl or ⌘ with Enter runs from anywhere. */
export function useKeys(): void {
  useEffect(
    () =>
      tinykeys(window, {
        '$mod+Enter': (event) => {
          event.preventDefault();
          command('run');
        },
        Escape: () => command('stop'),
        r: unlessTyping('again'),
        e: unlessTyping('executed'),
        j: unlessTyping('next'),
        k: unlessTyping('previous'),
        '/': unlessTyping('search'),
        'Shift+?': unlessTyping('help'),
      }),
    [],
  );
}

function unlessTyping(name: Command): (event: KeyboardEvent) => void {
  return (event) => {
    // The editor stands in a shadow tree: the path leads to what is really typed into.
    const [target] = event.composedPath();
    if (event.isComposing || (target instanceof HTMLElement && isTypedInto(target))) return;
    event.preventDefault();
    command(name);
  };
}

function isTypedInto(element: HTMLElement): boolean {
  if (element.isContentEditable || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)
    return true;
  return element instanceof HTMLInputElement && element.type !== 'checkbox' && element.type !== 'radio';
}
