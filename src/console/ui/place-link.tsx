import type { AnchorHTMLAttributes, KeyboardEvent, MouseEvent } from 'react';
import { goTo, hrefTo, type Place } from '../state/location.ts';

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'> & {
  to: Partial<Place>;
  /** What a plain press does beside going there, or instead of it. */
  onPress?: () => void;
  instead?: boolean;
};

/** A link to a place of this page: a plain press goes there at once, any other opens it as the browser opens links. */
export function PlaceLink({ to, onPress, instead = false, ...rest }: Props) {
  const press = (event: MouseEvent) => {
    if (!isPlain(event)) return;
    event.preventDefault();
    onPress?.();
    if (!instead) goTo(to, { push: true });
  };
  return <a {...rest} href={hrefTo(to)} onClick={press} />;
}

/** Whether a press asks for nothing but the link itself: no new tab, no new window, no download. */
export function isPlain({ button, ctrlKey, metaKey, shiftKey, altKey, defaultPrevented }: MouseEvent): boolean {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey && !defaultPrevented;
}

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
