/** One thing that is kept. `info` is there again after a start; `text` is read when somebody asks for it. */
export type Entry = { key: string; info?: string; text?: string };

/** The table of one store of this process. Calls are carried out in the order in which they were made. */
export type Shelf = {
  /** The infos that were kept before this start, in the order in which they were put first. To be taken once. */
  load(): { key: string; info: string }[];
  /** Puts all of them in one step. A member that is left out stays as it was. */
  put(entries: readonly Entry[]): Promise<void>;
  read(key: string): Promise<string | null>;
  /** Reads at once, as a part of the transaction that is open. */
  readNow(key: string): string | null;
  remove(keys: readonly string[]): Promise<void>;
  /** Resolves to what was just seen of it in memory, once that outlives a loss of power: what was told is not taken back. */
  sure<T>(seen: T): Promise<T>;
};

export const shelfNames = [
  'store',
  'trees',
  'history',
  'history_of_batches',
  'pinned',
  'pinned_trees',
  'notes',
  'batches',
] as const;
export type ShelfName = (typeof shelfNames)[number];
export type OpenShelf = (name: ShelfName) => Shelf;
