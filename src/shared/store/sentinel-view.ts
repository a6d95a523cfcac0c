import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { View } from './master-view.ts';

const addressSchema = z.tuple([z.string(), z.coerce.number().int().min(1)]).nullable();
const masterSchema = z.union([
  z.array(z.string()).transform((texts) => texts[texts.indexOf('config-epoch') + 1]),
  z.record(z.string(), z.unknown()).transform((fields) => fields['config-epoch']),
]);

/** Only `get-master-addr-by-name` tells the new master as soon as it took over; only `master` tells the epoch. */
export async function askSentinel(redis: Redis, name: string): Promise<View> {
  const [address, master] = await Promise.all([
    redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name).then((reply) => addressSchema.parse(reply)),
    redis.call('SENTINEL', 'MASTER', name).catch((error) => {
      if (String(error).includes('No such master')) return null;
      throw error;
    }),
  ]);
  if (address === null || master === null) throw new Error(`the Sentinels know no master named "${name}"`);
  const [host, port] = address;
  return { master: { host, port }, epoch: z.coerce.number().parse(masterSchema.parse(master)), others: [] };
}
