type Message = { id: number; fields: string[] };

export type Messages = ReturnType<typeof createMessages>;

/** The newest published messages of a queue, in the memory of the process, which is also where all readers are. */
export function createMessages() {
  let kept: Message[] = [];
  let lastId = 0;
  const waiting = new Set<() => void>();

  return {
    publish(fields: Record<string, string | number>, atMost: number): string {
      const flat = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
      kept.push({ id: ++lastId, fields: flat });
      if (kept.length > atMost) kept = kept.slice(-atMost);
      for (const wake of [...waiting]) wake();
      return String(lastId);
    },
    last: () => lastId,
    after: (id: number) => kept.filter((message) => message.id > id),
    trim(atMost: number): number {
      const removed = Math.max(0, kept.length - atMost);
      kept = kept.slice(removed);
      return removed;
    },
    waiting,
  };
}
