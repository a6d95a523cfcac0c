import { useSyncExternalStore } from 'react';

/** A value that outlives the page and is the same in every part of it. Tabs that are open do not change one another's. */
type Stored<T> = { get(): T; set(next: T): void; use(): T; forget(): void };

type How<T> = {
  /** Judges what an older page left behind. */
  read: (stored: unknown) => T;
  /** The part that is kept beyond the page. */
  lasting?: (value: T) => unknown;
  /** Each tab keeps its own over a reload; a new one begins with what was chosen last. */
  ofTab?: boolean;
};

type Storages = 'localStorage' | 'sessionStorage';

const SAVE_AFTER_MS = 200;

export function createStored<T>(name: string, { read, lasting = (value) => value, ofTab = false }: How<T>): Stored<T> {
  const key = `rule-server.${name}`;
  const storages: Storages[] = ofTab ? ['sessionStorage', 'localStorage'] : ['localStorage'];
  const listeners = new Set<() => void>();
  let value: { now: T } | undefined;
  let saving: ReturnType<typeof setTimeout> | undefined;

  function get(): T {
    if (value === undefined) {
      const own = ofTab ? load('sessionStorage', key) : null;
      value = { now: read(own ?? load('localStorage', key)) };
      if (ofTab) save('sessionStorage', key, lasting(value.now));
    }
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
    for (const storage of storages) save(storage, key, lasting(get()));
  }

  function forget(): void {
    clearTimeout(saving);
    window.removeEventListener('pagehide', saveNow);
    value = undefined;
    for (const storage of storages) remove(storage, key);
    for (const listener of listeners) listener();
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return { get, set, forget, use: () => useSyncExternalStore(subscribe, get) };
}

// A browser may forbid storage, or have no room; then things are remembered as long as the page is open.
function inStorage<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null;
  }
}

const load = (storage: Storages, key: string): unknown =>
  inStorage(() => JSON.parse(window[storage].getItem(key) ?? 'null'));
const save = (storage: Storages, key: string, value: unknown) =>
  inStorage(() => window[storage].setItem(key, JSON.stringify(value)));
const remove = (storage: Storages, key: string) => inStorage(() => window[storage].removeItem(key));

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
