import type { Endpoint } from '../../runtime/settings/redis-url.ts';
/** The address of the master in the view of one Sentinel or one node of a Cluster. The greater epoch is the newer view. */
export type View = { master: Endpoint; epoch: number; others: Endpoint[] };
