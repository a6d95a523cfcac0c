import { useEffect } from 'react';
import type { Panel } from '../../state/location.ts';
import { places } from './views.tsx';

/** The commands of the keys. Parts of the page that can do one listen. */
type Command =
  | 'run'
  | 'stop'
  | 'search'
  | 'executed'
  | 'next'
  | 'previous'
  | 'compare'
  | 'find'
  | 'help'
  | `go ${string}`;

const listeners = new Set<(command: Command) => void>();

export function command(name: Command): void {
  for (const listener of [...listeners]) listener(name);
}

/** Listens; returns how to stop. */
export function onCommand(listener: (command: Command) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Puts the focus into the first value of the form; while the input is shown as JSON, on its tab. */
export function focusFirstValue(): void {
  focus('.input-form .value, .input-panel.json [role=tab][aria-selected=true]');
}

/** Puts the focus at the beginning of a page; for null at the result of the rule. */
export function focusPage(panel: Panel | null): void {
  focus(panel === null ? '.column.headlines' : '.column.page');
}

/** Puts the focus on the tree, at the node that is chosen. */
export function focusTree(): void {
  focus('.tree');
}

/** Puts the focus into the field that searches the nodes of the tree. */
export function focusSearch(): void {
  focus('.tree-column input[type=search]');
}

function focus(selector: string): void {
  const element = document.querySelector(selector);
  if (element instanceof HTMLElement) element.focus();
}

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
