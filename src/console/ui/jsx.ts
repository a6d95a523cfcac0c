import { type ElementType, Fragment, type JSX, type Key } from 'react';
import * as react from 'react/jsx-runtime';
import { hasUnseen, visibleLines } from '../../shared/contract/json/visible-text.ts';

export { Fragment, type JSX, jsx, jsxDEV, jsxs };

/**
 * What every element of the page is made with, instead of React's own: no text reaches the page with a character that is not seen as
 * one. Names, errors and values come from clients; one of these characters would turn what follows around, or hide it.
 */
function jsx(type: ElementType, props: Props, key?: Key) {
  return react.jsx(type, shown(props), key);
}

function jsxs(type: ElementType, props: Props, key?: Key) {
  return react.jsxs(type, shown(props), key);
}

/** The same while the page is developed. */
function jsxDEV(type: ElementType, props: Props, key: Key | undefined, isStatic: boolean) {
  return isStatic ? jsxs(type, props, key) : jsx(type, props, key);
}

type Props = { [name: string]: unknown };

/** Attributes that are read. Those that are edited (`value`) stay as they are. */
const READ = ['children', 'title', 'aria-label', 'alt'];

function shown(props: Props): Props {
  const unseen = READ.filter((name) => isUnseen(props[name]));
  if (unseen.length === 0) return props;
  return { ...props, ...Object.fromEntries(unseen.map((name) => [name, seen(props[name])])) };
}

function isUnseen(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isUnseen) : typeof value === 'string' && hasUnseen(value);
}

function seen(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(seen);
  return typeof value === 'string' ? visibleLines(value) : value;
}
