import type { AnchorHTMLAttributes, MouseEvent } from 'react';
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
