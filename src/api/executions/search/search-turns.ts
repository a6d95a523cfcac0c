/** How many searches run at once in one API, one per caller: a search reads much, and the event loop belongs to calls. */
const AT_ONCE = 2;
const MAX_WAITING = 20;
/** How many searches of one caller may wait, so that others keep their share of the queue. */
const MAX_WAITING_OF_ONE = 5;

type Waiting = { name: string | null; begin: () => void };

/** Queues searches. Each is bounded in time, so the wait is short. */
export function createSearchTurns() {
  const running: (string | null)[] = [];
  const waiting: Waiting[] = [];

  const mayRun = (name: string | null) => running.length < AT_ONCE && (name === null || !running.includes(name));

  function beginNext(): void {
    const index = waiting.findIndex(({ name }) => mayRun(name));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (!next) return;
    running.push(next.name);
    next.begin();
    beginNext();
  }

  /** Runs a search of this caller when it is its turn; `crowded` when too many wait already. */
  return async function inTurn<T>(name: string | null, search: () => Promise<T>): Promise<T | 'crowded'> {
    const ofCaller = waiting.filter((other) => other.name === name).length;
    if (waiting.length >= MAX_WAITING || (name !== null && ofCaller >= MAX_WAITING_OF_ONE)) return 'crowded';
    const turn = Promise.withResolvers<void>();
    waiting.push({ name, begin: turn.resolve });
    beginNext();
    await turn.promise;
    try {
      return await search();
    } finally {
      running.splice(running.indexOf(name), 1);
      beginNext();
    }
  };
}
