import type { Client } from '../api/browse.ts';
import type { Target } from '../state/location.ts';

/**
 * The clients one of which would run a call now, as the service chooses: for any client those of the trunk, else those of
 * the lanes, else those that are known by their directory alone.
 */
export function candidatesOf(target: Target, clients: readonly Client[]): Client[] {
  const online = clients.filter((client) => client.online);
  switch (target.kind) {
    case 'each':
      return online;
    case 'lane':
      return online.filter(({ lane }) => lane === target.lane);
    case 'address':
      return online.filter(({ address }) => address === target.address);
    case 'all': {
      const trunk = online.filter(({ registered, lane }) => registered && lane === null);
      const lanes = online.filter(({ lane }) => lane !== null);
      return [trunk, lanes, online].find((group) => group.length > 0) ?? [];
    }
  }
}

/** The lanes that clients are in, by name. */
export function lanesOf(clients: readonly Client[]): string[] {
  return [...new Set(clients.flatMap(({ lane }) => lane ?? []))].sort();
}

/** The targets that always can be offered: any client, and each lane. */
export const targetsOf = (clients: readonly Client[]): string[] => [
  'all',
  ...lanesOf(clients).map((lane) => `lane:${lane}`),
];
