import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureOf, Refused, request, Unreachable, whenSignedOut } from '../../api/request.ts';
import { forgetDrafts } from '../../state/drafts.ts';
import { createStored } from '../../state/stored.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';

/** Trades a key for a session. What was on the screen waits behind it as it was. */
export function SignIn({ expired }: { expired: boolean }) {
  const { say } = useText();
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === '' || busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await signIn(key.trim());
      setKey('');
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(whatWentWrong(error, say));
    }
    setBusy(false);
  };

  return (
    <main className="sign-in">
      <form className="stack" onSubmit={(event) => void submit(event)} aria-labelledby="sign-in-title">
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1 id="sign-in-title">{say('signIn.title')}</h1>
        <p>{say(expired ? 'signIn.expired' : 'signIn.text')}</p>
        <label htmlFor="sign-in-key">{say('signIn.key')}</label>
        <input
          id="sign-in-key"
          type="password"
          autoComplete="current-password"
          // biome-ignore lint/a11y/noAutofocus: there is nothing else to do here
          autoFocus
          value={key}
          aria-invalid={problem !== null}
          aria-describedby="sign-in-problem"
          onChange={({ target }) => setKey(target.value)}
        />
        <p id="sign-in-problem" className="bad" role="alert">
          {problem}
        </p>
        <Button
          label={say(busy ? 'signIn.busy' : 'signIn.title')}
          className="button primary"
          blocked={busy || key.trim() === ''}
        />
      </form>
    </main>
  );
}

function whatWentWrong(error: unknown, say: Say): string {
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) return say('signIn.wrong');
  if (error instanceof Unreachable) return say('signIn.unreachable');
  return say('signIn.failed', { error: failureOf(error) });
}

/** `signedIn`: this browser traded a key for a session. `needed`: the service wants one and there is none, or no longer. */
type Session = { signedIn: boolean; needed: 'no' | 'yes' | 'expired' };

const session = createStored<Session>('signed-in', {
  read: (stored) => ({ signedIn: stored === true, needed: 'no' }),
  // That there was a session, not what it was: only to say "expired" instead of "sign in".
  lasting: ({ signedIn }) => signedIn,
});
export const useSession = session.use;

whenSignedOut(() => {
  const { signedIn, needed } = session.get();
  if (signedIn || needed === 'no') session.set({ signedIn: false, needed: signedIn ? 'expired' : 'yes' });
});

/** Trades a key for a session cookie, which scripts cannot read. Throws `Refused` or `Unreachable`. */
async function signIn(key: string): Promise<void> {
  await request('/session', { method: 'POST', body: JSON.stringify({ key }) });
  session.set({ signedIn: true, needed: 'no' });
}

/** Ends the session, here and at the service, and leaves nothing of what was on the screen: a shared browser is the next person's. */
export async function signOut(): Promise<void> {
  await request('/session', { method: 'DELETE' }).catch((error) => {
    if (!(error instanceof Refused)) throw error;
  });
  session.set({ signedIn: false, needed: 'yes' });
  forgetDrafts();
  // A new page has nothing in its memory; the address of the old one had the input in it.
  window.location.replace('/');
}
