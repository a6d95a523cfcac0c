import { type AccessLog, deepReach, flatReach, Keys, type Store } from './keys.ts';
import type { Value } from './values.ts';

const MAX_HOPS = 100;

/** The run that a leaf is part of, as far as a leaf may see it. */
export type RunContext = {
  store: Store;
  /** Epoch ms the rule runs as of. */
  ts: number;
  scene?: string | undefined;
  signal: () => AbortSignal;
};

/**
 * The data of the run, as a leaf gets it: read and written by key. A key is taken as it stands; `deep` and the two
 * methods named after it follow its dots (`vip.level`, `items.0.price`).
 */
export class Data<out D = unknown> extends Keys<D> {
  readonly #context: RunContext;
  readonly #log: AccessLog | null;
  #deep: Keys | undefined;

  constructor(context: RunContext, log: AccessLog | null) {
    super(context.store, log, flatReach);
    this.#context = context;
    this.#log = log;
  }

  /** The same data through keys whose dots lead into objects and lists. */
  get deep(): Keys {
    this.#deep ??= new Keys(this.#context.store, this.#log, deepReach);
    return this.#deep;
  }

  getDeep(key: string): Value | undefined {
    return this.deep.get(key);
  }

  putDeep(key: string, value: unknown): void {
    this.deep.put(key, value);
  }

  /** A text that starts with `@` names the key to read (its dots are followed); anything else is the value itself. */
  resolve(value: Value | undefined): Value | undefined {
    let resolved = value;
    for (let hops = 0; typeof resolved === 'string' && resolved.startsWith('@'); hops++) {
      if (hops === MAX_HOPS) throw new RangeError(`"${value}" leads from key to key without an end`);
      resolved = this.getDeep(resolved.slice(1));
    }
    return resolved;
  }

  /** The keys there are now. */
  keys(): string[] {
    return Object.keys(this.#context.store.root);
  }

  /** The time the rule runs as of: epoch ms, the request's or now. */
  get ts(): number {
    return this.#context.ts;
  }

  /** The scene that the rule is run for; undefined where it was asked for by its id alone. */
  get scene(): string | undefined {
    return this.#context.scene;
  }

  /** Aborted once nobody waits for this run any more: hand it to whatever may take long. */
  get signal(): AbortSignal {
    return this.#context.signal();
  }
}
