import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { queueNames } from '../../shared/contract/queue-names.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { every } from '../../shared/runtime/periodic.ts';

/** How long an API may count too few calls of a key that comes to several APIs. */
const TOLD_EVERY_MS = 250;
/** An API that has told nothing for so long may have died: its calls count no more. */
const COUNTS_FOR_MS = 1000;
const MAX_MESSAGES_KEPT = 100;
const NONE = '[]';

/** How many calls of each key are open at one API. A map, because a key may have a name that every object has, such as `constructor`. */
type OpenCalls = ReadonlyMap<string, number>;

const toldSchema = z.object({
  api: z.string(),
  open: z
    .string()
    .transform(parseJson)
    .pipe(z.array(z.tuple([z.string(), z.number()]))),
});

export type CallsElsewhere = ReturnType<typeof openCallsElsewhere>;

/** Each API tells the others how many calls of each key are open at it. An API that hears nothing counts its own. */
export function openCallsElsewhere(backend: QueueBackend) {
  const own = randomUUID();
  const told = new Map<string, { open: OpenCalls; at: number }>();
  const sender = backend.openSender(queueNames.openCalls, MAX_MESSAGES_KEPT);
  const listening = backend.listen(queueNames.openCalls, (message) => {
    const { data } = toldSchema.safeParse(message);
    if (data === undefined || data.api === own) return;
    told.set(data.api, { open: new Map(data.open), at: performance.now() });
  });

  let openHere: () => OpenCalls = () => new Map();
  let lastTold = NONE;
  const telling = every(
    TOLD_EVERY_MS,
    async () => {
      forgetSilent();
      const open = JSON.stringify([...openHere()]);
      // The others know already that this API has no calls open.
      if (open === NONE && lastTold === NONE) return;
      lastTold = open;
      await sender.send({ api: own, open });
    },
    () => {},
  );

  function forgetSilent(): void {
    for (const [api, { at }] of told) if (performance.now() - at > COUNTS_FOR_MS) told.delete(api);
  }

  return {
    /** How many calls of a key the other APIs had open, a quarter of a second ago. */
    of: (name: string): number => [...told.values()].reduce((sum, { open }) => sum + (open.get(name) ?? 0), 0),
    /** Says how to count the open calls of this API, which the others are told of. */
    tell(here: () => OpenCalls): void {
      openHere = here;
    },
    close: () => Promise.allSettled([telling.stop(), sender.close(), listening.close()]),
  };
}
