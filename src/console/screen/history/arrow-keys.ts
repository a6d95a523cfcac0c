import type { KeyboardEvent } from 'react';

/** Arrow keys, Home and End go from row to row of a table whose rows have one link each, or from button to button; Tab enters and leaves. */
export function onArrowKeys(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a.row-link, button.answer')];
  const at = links.findIndex((link) => link.contains(document.activeElement));
  const [next, last] = [at + 1, links.length - 1];
  const to = { ArrowDown: next, ArrowRight: next, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
  const link = at < 0 || to === undefined ? undefined : links[to];
  if (!link) return;
  event.preventDefault();
  link.focus();
}
