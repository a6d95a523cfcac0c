import type { ExactObject, ExactValue } from '../../../shared/contract/json/raw-number.ts';
import { put, readDeep, writeDeep } from './deep-keys.ts';
import { booleanOf, doubleOf, intOf, listOf, longOf, mapOf, stringOf } from './typed-values.ts';
import { createOrigins, type Origins, toExact, toPlain, type Value } from './values.ts';

/** The data of one run. Once that is over nothing changes it any more: the first key that is put afterwards is reported. */
export type Store = {
  readonly root: ExactObject;
  readonly origins: Origins;
  isOver: boolean;
  onLatePut: ((key: string) => void) | null;
};

export function createStore(root: ExactObject, onLatePut: Store['onLatePut'] = null): Store {
  return { root, origins: createOrigins(), isOver: false, onLatePut };
}

/** The listener of every access. */
export type AccessLog = {
  read(key: AccessedKey, value: ExactValue | undefined): void;
  wrote(key: AccessedKey, before: ExactValue | undefined, after: ExactValue | undefined): void;
};

/** A key as it was accessed. `deep`: its dots were followed. */
export type AccessedKey = { key: string; deep: boolean };

/** A key with dots is a name like any other. */
export const flatReach = {
  deep: false,
  read: (root: ExactObject, key: string): ExactValue | undefined => (Object.hasOwn(root, key) ? root[key] : undefined),
  write: put,
};
type Reach = typeof flatReach;
/** A key with dots is a path through objects and lists. */
export const deepReach: Reach = { deep: true, read: readDeep, write: writeDeep };

/**
 * A key that described data does not have: one whose text is configured or put together. Written out it must be one of the data's,
 * so that a misspelt one is found before it runs. Any text where nothing is known of the data.
 */
type OtherKey<D, K extends string> = unknown extends D ? K : Record<never, 1> extends Record<K, 1> ? K : never;
type AnyKey<D, K extends string> = OtherKey<D, K> | (keyof D & string);

/**
 * Reads and writes the keys of a run's data. The typed readers give undefined, or the fallback, for what is absent or null,
 * and throw for a value of another type. A class, unlike everything else here: one is made for every leaf that runs.
 */
export class Keys<out D = unknown> {
  readonly #store: Store;
  readonly #log: AccessLog | null;
  readonly #reach: Reach;

  constructor(store: Store, log: AccessLog | null, reach: Reach) {
    this.#store = store;
    this.#log = log;
    this.#reach = reach;
  }

  /** The value as plain JavaScript, a copy: integers beyond 2^53 are bigint. */
  get<K extends keyof D & string>(key: K): D[K] | undefined;
  get<K extends string>(key: OtherKey<D, K>): Value | undefined;
  get(key: string): unknown {
    const value = this.#at(key);
    return value === undefined ? undefined : toPlain(value, this.#store.origins);
  }

  /** The value with its numbers as they were written: put it elsewhere and nothing is lost. */
  raw<K extends string>(key: AnyKey<D, K>): ExactValue | undefined;
  raw(key: string): ExactValue | undefined {
    return this.#at(key);
  }

  #at(key: string): ExactValue | undefined {
    const value = this.#reach.read(this.#store.root, key);
    this.#log?.read({ key, deep: this.#reach.deep }, value);
    return value;
  }

  /** Keeps a copy of the value; undefined removes the key. Throws for what JSON cannot hold. */
  put<K extends keyof D & string>(key: K, value: D[K]): void;
  put<K extends string>(key: OtherKey<D, K>, value: unknown): void;
  put(key: string, value: unknown): void {
    const { root, origins, isOver } = this.#store;
    if (isOver) {
      this.#putLate(key);
      return;
    }
    const after = value === undefined ? undefined : toExact(value, origins, key);
    const before = this.#log === null ? undefined : this.#reach.read(root, key);
    this.#reach.write(root, key, after);
    this.#log?.wrote({ key, deep: this.#reach.deep }, before, after);
  }

  #putLate(key: string): void {
    const { onLatePut } = this.#store;
    this.#store.onLatePut = null;
    onLatePut?.(key);
  }

  /** An integer of any size. */
  long<K extends string>(key: AnyKey<D, K>): bigint | undefined;
  long<K extends string>(key: AnyKey<D, K>, fallback: bigint): bigint;
  long(key: string, fallback?: bigint): bigint | undefined {
    return longOf(this.#at(key), key) ?? fallback;
  }

  /** An integer up to 2^53; a greater one throws. */
  int<K extends string>(key: AnyKey<D, K>): number | undefined;
  int<K extends string>(key: AnyKey<D, K>, fallback: number): number;
  int(key: string, fallback?: number): number | undefined {
    return intOf(this.#at(key), key) ?? fallback;
  }

  /** The double nearest to a number. */
  double<K extends string>(key: AnyKey<D, K>): number | undefined;
  double<K extends string>(key: AnyKey<D, K>, fallback: number): number;
  double(key: string, fallback?: number): number | undefined {
    return doubleOf(this.#at(key), key) ?? fallback;
  }

  string<K extends string>(key: AnyKey<D, K>): string | undefined;
  string<K extends string>(key: AnyKey<D, K>, fallback: string): string;
  string(key: string, fallback?: string): string | undefined {
    return stringOf(this.#at(key), key) ?? fallback;
  }

  boolean<K extends string>(key: AnyKey<D, K>): boolean | undefined;
  boolean<K extends string>(key: AnyKey<D, K>, fallback: boolean): boolean;
  boolean(key: string, fallback?: boolean): boolean | undefined {
    return booleanOf(this.#at(key), key) ?? fallback;
  }

  list<K extends string>(key: AnyKey<D, K>): Value[] | undefined;
  list<K extends string>(key: AnyKey<D, K>, fallback: Value[]): Value[];
  list(key: string, fallback?: Value[]): Value[] | undefined {
    return listOf(this.#at(key), key, this.#store.origins) ?? fallback;
  }

  map<K extends string>(key: AnyKey<D, K>): { [key: string]: Value } | undefined;
  map<K extends string>(key: AnyKey<D, K>, fallback: { [key: string]: Value }): { [key: string]: Value };
  map(key: string, fallback?: { [key: string]: Value }): { [key: string]: Value } | undefined {
    return mapOf(this.#at(key), key, this.#store.origins) ?? fallback;
  }
}
