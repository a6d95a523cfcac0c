import { time } from '../../shared/ports/time.ts';

/** Reads of one execution that several follow: what the last one found, and after how many changes it began. */
type Shared<T> = { readers: number; changes: number; read?: { changes: number; at: number; found: Promise<T> } };

type Options<T> = {
  read: (id: string) => Promise<T>;
  /** Calls the observer when something may have happened to an execution. */
  observe: (id: string, observer: () => void) => () => void;
  /** How long a read serves those who ask after it, unless something happened since it began. */
  freshMs: number;
};

/** One read serves all followers of an execution: however many there are, Redis is asked once at each change. */
export function createSharedReads<T>({ read, observe, freshMs }: Options<T>) {
  const all = new Map<string, Shared<T>>();

  return function join(id: string, onChange: () => void) {
    const shared = all.get(id) ?? { readers: 0, changes: 0 };
    shared.readers++;
    all.set(id, shared);
    const stop = observe(id, () => {
      // One event reaches every reader: only the first of them starts a new read for it.
      if (shared.read?.changes === shared.changes) shared.changes++;
      onChange();
    });
    return {
      read(): Promise<T> {
        const { changes, read: last } = shared;
        if (last?.changes === changes && time.monotonic() < last.at + freshMs) return last.found;
        const found = read(id);
        shared.read = { changes, at: time.monotonic(), found };
        return found;
      },
      leave(): void {
        stop();
        if (--shared.readers === 0) all.delete(id);
      },
    };
  };
}
