import { z } from 'zod';

const addressedSchema = z.object({ replyTo: z.string() });

/** Where the data of a job leads its replies, if it says so. */
export const replyToOf = (data: unknown): string | undefined => addressedSchema.safeParse(data).data?.replyTo;

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
