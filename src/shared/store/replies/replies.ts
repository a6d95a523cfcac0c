/** A message about a job: how it ended, as the job itself holds it, or only that it changed, also by a failure. */
export type Reply = { kind: 'completed'; id: string; value: unknown } | { kind: 'changed'; id: string };

/** `onBack`: replies may have been lost until now, and arrive again. */
export type ReplyListener = { onReply(reply: Reply): void; onBack(): void };

/** Tells one process about the jobs it asked for. Every reply is a hint: it may be lost, and the job itself tells the same. */
export type Replies = {
  /** The `replyTo` in a job's data that leads replies here. */
  address: string;
  /** Resolves once replies arrive. */
  ready: Promise<void>;
  /** Calls `listener` when something happens to one job, whoever asked for it. The returned function ends that. */
  follow(id: string, listener: () => void): () => void;
  close(): Promise<void>;
};

/** The listeners of each job, by its id. `begin` and `end` are called around the first and the last of an id. */
export function createFollowers(begin: (id: string) => void = () => {}, end: (id: string) => void = () => {}) {
  const followers = new Map<string, Set<() => void>>();
  return {
    add(id: string, listener: () => void): () => void {
      const known = followers.get(id);
      const own = known ?? new Set();
      followers.set(id, own.add(listener));
      if (!known) begin(id);
      return () => {
        if (!own.delete(listener) || own.size > 0) return;
        followers.delete(id);
        end(id);
      };
    },
    tell(id: string): void {
      for (const listener of [...(followers.get(id) ?? [])]) listener();
    },
  };
}
