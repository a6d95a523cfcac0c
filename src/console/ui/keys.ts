import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

/** The key that runs a rule together with Enter, as it is written on this reader's keyboard. */
export function modifierKey(): '⌘' | 'Ctrl' {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
}

/** Does what the key stands for among these; with Ctrl, Alt or ⌘ it is the browser's. */
export function doFor(event: ReactKeyboardEvent, actions: Readonly<Record<string, () => void>>): void {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

/** Enter that is held down presses a button once, as the space bar does: a browser would press it again with each repetition of the key. */
export function pressOnceWhileHeld(): void {
  const keep = (event: KeyboardEvent) => {
    if (event.repeat && event.key === 'Enter' && event.composedPath().some(isButton)) event.preventDefault();
  };
  window.addEventListener('keydown', keep, { capture: true });
}

const isButton = (target: EventTarget) => target instanceof HTMLButtonElement;

/**
 * Keeps the keys of an input method from everything that listens for keys: Enter takes a candidate then, and Escape and the arrows are the
 * input method's own. The field gets what is composed all the same. The JSON editor watches compositions itself.
 */
export function leaveCompositionsAlone(): void {
  const keep = (event: KeyboardEvent) => {
    if (isComposing(event) && !event.composedPath().some(isEditor)) event.stopImmediatePropagation();
  };
  window.addEventListener('keydown', keep, { capture: true });
  window.addEventListener('keyup', keep, { capture: true });
}

/** Safari ends a composition before the key that ended it: that key is then known by its number alone. */
const OF_INPUT_METHOD = 229;
const isComposing = ({ isComposing, keyCode }: KeyboardEvent) => isComposing || keyCode === OF_INPUT_METHOD;

const isEditor = (target: EventTarget) => target instanceof HTMLElement && target.isContentEditable;

/** Whether a change of a field is part of a composition that goes on. */
export const isComposed = (event: Event): boolean => event instanceof InputEvent && event.isComposing;
