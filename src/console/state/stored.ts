import { useSyncExternalStore } from 'react';

/** A value that outlives the page and is the same in every part of it. */
type Stored<T> = { get(): T; set(next: T): void; use(): T; forget(): void };

type How<T> = {
  /** Judges what an older page left behind. */
  read: (stored: unknown) => T;
  /** The part that is kept beyond the page. */
  lasting?: (value: T) => unknown;
};

const SAVE_AFTER_MS = 200;

export function createStored<T>(name: string, { read, lasting = (value) => value }: How<T>): Stored<T> {
  const key = `rule-server.${name}`;
  const listeners = new Set<() => void>();
  let value: { now: T } | undefined;
  let saving: ReturnType<typeof setTimeout> | undefined;

  function get(): T {
    value ??= { now: read(load(key)) };
    return value.now;
  }

  function set(next: T): void {
    value = { now: next };
    for (const listener of listeners) listener();
    // Every key stroke changes a draft; storage is slow.
    if (saving === undefined) window.addEventListener('pagehide', saveNow, { once: true });
    clearTimeout(saving);
    saving = setTimeout(saveNow, SAVE_AFTER_MS);
  }

  function saveNow(): void {
    clearTimeout(saving);
    saving = undefined;
    window.removeEventListener('pagehide', saveNow);
    save(key, lasting(get()));
  }

  function forget(): void {
    clearTimeout(saving);
    window.removeEventListener('pagehide', saveNow);
    value = undefined;
    remove(key);
    for (const listener of listeners) listener();
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return { get, set, forget, use: () => useSyncExternalStore(subscribe, get) };
}

// A browser may forbid storage; then things are remembered as long as the page is open.
function load(key: string): unknown {
  try {
    return JSON.parse(window.localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

function save(key: string, value: unknown): void {
  try {
    window.localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full or forbidden.
  }
}

function remove(key: string): void {
  try {
    window.localStorage.removeItem(key);
  } catch {
    // Forbidden: then nothing is there.
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
