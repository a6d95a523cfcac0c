import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureOf, Refused, Unreachable } from '../../api/request.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { signIn } from './session.ts';

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
      <form onSubmit={(event) => void submit(event)} aria-labelledby="sign-in-title">
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
        <button type="submit" className="button primary" aria-disabled={busy || key.trim() === ''}>
          {say(busy ? 'signIn.busy' : 'signIn.button')}
        </button>
      </form>
    </main>
  );
}

function whatWentWrong(error: unknown, say: Say): string {
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) return say('signIn.wrong');
  if (error instanceof Unreachable) return say('signIn.unreachable');
  return say('signIn.failed', { error: error instanceof Error ? failureOf(error) : String(error) });
}
