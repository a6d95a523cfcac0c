import { readTarget } from '../../state/location.ts';
import type { Say } from '../../text/use-text.tsx';

/** Where a run goes, in a few words. */
export function targetWords(text: string, say: Say): string {
  const target = readTarget(text);
  switch (target.kind) {
    case 'lane':
      return say('target.inLane', { lane: target.lane });
    case 'address':
      return target.address;
    case 'each':
      return say('target.each');
    case 'all':
      return say('target.all');
  }
}
