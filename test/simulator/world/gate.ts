/** One thing that a simulated process asks of the world outside. `on`: the paths or keys it touches. */
export type Asked = {
  process: string;
  port: 'files' | 'queue' | 'client';
  name: string;
  on: readonly string[];
  writes: boolean;
};

/**
 * The way of a simulated process to a part of the world. Whoever stands behind it decides when `act` happens, on which world (a stale
 * view may be an older copy), and what the process is told: what `act` came to, an error instead, an error although it happened, or
 * nothing ever.
 */
export type Gate<World> = <T>(asked: Asked, act: (world: World) => T) => Promise<T>;

/** The gate of a world without faults: everything happens at once. */
export function openGate<World>(world: World): Gate<World> {
  return async (_asked, act) => act(world);
}
