/** A place where calls queue: so many servers, each busy with a call for so long. */
export type Station = { name: string; serviceUs: number; servers: number };

/**
 * Calls a second of `callers` that each wait for their answer before they call again: no more than the fullest station lets through, and
 * no more than the callers can make if no call ever has to queue. With far more callers than servers the first is what is reached.
 */
export function closedThroughput(callers: number, aloneUs: number, stations: readonly Station[]): number {
  return Math.min((callers * 1e6) / aloneUs, ...stations.map(mostAt));
}

/** The calls a second that a station lets through. */
export const mostAt = ({ serviceUs, servers }: Station) => (servers * 1e6) / serviceUs;

/** How much of a station is in use at a rate; 1 is all of it. */
export const usedAt = (perSecond: number, station: Station) => perSecond / mostAt(station);

/** The mean time that a call spends at a station of an open network (M/M/c), in µs; infinite when it is saturated. */
export function responseUs(perSecond: number, station: Station): number {
  const used = usedAt(perSecond, station);
  if (used >= 1) return Number.POSITIVE_INFINITY;
  const { serviceUs, servers } = station;
  return serviceUs + (waits(used * servers, servers) * serviceUs) / (servers * (1 - used));
}

/** The probability that a call has to wait (Erlang C), by the recursion of Erlang B. `load`: how many servers are busy on average. */
export function waits(load: number, servers: number): number {
  let blocked = 1;
  for (let count = 1; count <= servers; count++) blocked = (load * blocked) / (count + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}
