/**
 * The files below `.rule-server/pick-ups/{app}` that say which clients pick up their requests, each named after a client with a time in
 * it, epoch ms. Workers write them, and `doctor` reads them.
 */
export const pickUpFiles = {
  folder: 'pick-ups',
  /** When the client picked up a request last. */
  took: 'took.',
  /** Since when it has let requests lie. */
  lying: 'lying.',
} as const;
