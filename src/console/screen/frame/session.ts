import { useSyncExternalStore } from 'react';
import { Refused, request, whenSignedOut } from '../../api/request.ts';
import { forgetDrafts } from '../../state/drafts.ts';

/** `signedIn`: this browser traded a key for a session. `needed`: the service wants one and there is none, or no longer. */
type Session = { signedIn: boolean; needed: 'no' | 'yes' | 'expired' };

const MARK = 'rule-server.signed-in';
const listeners = new Set<() => void>();
let session: Session = { signedIn: wasSignedIn(), needed: 'no' };

whenSignedOut(() =>
  change({ signedIn: false, needed: session.signedIn ? 'expired' : session.needed === 'no' ? 'yes' : session.needed }),
);

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

/** Trades a key for a session cookie, which scripts cannot read. Throws `Refused` or `Unreachable`. */
export async function signIn(key: string): Promise<void> {
  await request('/session', { method: 'POST', body: JSON.stringify({ key }) });
  change({ signedIn: true, needed: 'no' });
}

/** Ends the session, here and at the service, and leaves nothing of what was on the screen: a shared browser is the next person's. */
export async function signOut(): Promise<void> {
  await request('/session', { method: 'DELETE' }).catch((error) => {
    if (!(error instanceof Refused)) throw error;
  });
  change({ signedIn: false, needed: 'yes' });
  forgetDrafts();
  // A new page has nothing in its memory; the address of the old one had the input in it.
  window.location.replace('/');
}

function change(next: Session): void {
  if (next.signedIn === session.signedIn && next.needed === session.needed) return;
  session = next;
  try {
    if (next.signedIn) window.localStorage.setItem(MARK, '1');
    else window.localStorage.removeItem(MARK);
  } catch {
    // Storage is forbidden: then a reload does not know that there was a session.
  }
  for (const listener of listeners) listener();
}

/** That there was a session, not what it was: only to say "expired" instead of "sign in". */
function wasSignedIn(): boolean {
  try {
    return window.localStorage.getItem(MARK) === '1';
  } catch {
    return false;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
