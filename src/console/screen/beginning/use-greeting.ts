import { useEffect, useState } from 'react';
import type { Client } from '../../api/browse.ts';
import type { RuleContext } from '../frame/use-rule.ts';

/** The client that came while the page waited for a first one; null when the page did not wait, or the reader has read it. */
export function useGreeting({ app, apps, clients }: RuleContext): { client: Client | null; dismiss: () => void } {
  const isWaiting = app === null && apps.data?.length === 0;
  const [state, setState] = useState<'none' | 'waiting' | 'greeting'>('none');
  const first = clients.data?.find(({ online }) => online) ?? null;
  useEffect(() => {
    if (isWaiting) setState('waiting');
    else if (state === 'waiting' && first !== null) setState('greeting');
  }, [isWaiting, state, first]);
  return { client: state === 'greeting' ? first : null, dismiss: () => setState('none') };
}
