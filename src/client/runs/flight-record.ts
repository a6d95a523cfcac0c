const CLAIM = 0;
const LENGTH = 1;
const NODE_AT = 8;
const TEXT_AT = 16;
const SIZE = 16 * 1024;

export type FlightRecord = ReturnType<typeof openFlightRecord>;

/** Memory for one flight record. */
export const newFlightMemory = (): SharedArrayBuffer => new SharedArrayBuffer(SIZE);

/**
 * Another thread reads this when the thread of a run does not answer any more. It has the first 16 KiB of the run's process text, and the
 * leaf that runs. It also decides which thread answers: the first that claims the answer.
 */
export function openFlightRecord(memory: SharedArrayBuffer) {
  const words = new Int32Array(memory, 0, 2);
  const node = new BigInt64Array(memory, NODE_AT, 1);
  const text = new Uint8Array(memory, TEXT_AT);
  let noted = 0;

  return {
    memory,

    /** Claims the answer; true for the first thread that does. */
    claim: (): boolean => Atomics.compareExchange(words, CLAIM, 0, 1) === 0,

    isClaimed: (): boolean => Atomics.load(words, CLAIM) !== 0,

    /** Records what was appended to the process text. */
    note(process: string): void {
      const length = Atomics.load(words, LENGTH);
      const { read, written } = new TextEncoder().encodeInto(process.slice(noted), text.subarray(length));
      noted += read;
      Atomics.store(words, LENGTH, length + written);
    },

    /** Records which leaf runs now. */
    enter(nodeId: bigint): void {
      Atomics.store(node, 0, nodeId);
    },

    process: (): string => new TextDecoder().decode(text.slice(0, Atomics.load(words, LENGTH))),
    lastNode: (): bigint => Atomics.load(node, 0),
  };
}
