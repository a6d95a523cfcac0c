import type { Decision } from '../../shared/reasoning/trace/mark.ts';
import { createStored, isRecord } from './stored.ts';

/** The replacements of nodes in dry runs, by the id of the node. */
export type Pins = Readonly<Record<string, Decision>>;

const decisions: readonly Decision[] = ['TRUE', 'FALSE', 'NONE'];

/** By app. */
const nodePins = createStored<Readonly<Record<string, Pins>>>('node-pins', {
  read: (stored) =>
    Object.fromEntries(Object.entries(isRecord(stored) ? stored : {}).map(([app, pins]) => [app, readPins(pins)])),
});

const none: Pins = {};

export function usePins(app: string | null): Pins {
  return nodePins.use()[app ?? ''] ?? none;
}

/** Puts an outcome in the place of a node, or (null) the node itself again. */
export function pinNode(app: string, nodeId: string, outcome: Decision | null): void {
  const { [nodeId]: _, ...others } = nodePins.get()[app] ?? none;
  nodePins.set({ ...nodePins.get(), [app]: outcome === null ? others : { ...others, [nodeId]: outcome } });
}

function readPins(stored: unknown): Pins {
  return Object.fromEntries(
    Object.entries(isRecord(stored) ? stored : {}).flatMap(([id, written]) => {
      const outcome = decisions.find((decision) => decision === written);
      return /^\d{1,19}$/.test(id) && outcome ? [[id, outcome]] : [];
    }),
  );
}
