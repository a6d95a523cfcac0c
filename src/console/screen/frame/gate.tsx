import { Screen } from '../screen.tsx';
import { useKeys } from './commands.ts';
import { SignIn, useSession } from './sign-in.tsx';

/** The screen, or the sign-in in front of it: behind it everything stays as it was typed. */
export function Gate() {
  const { needed } = useSession();
  const signedOut = needed !== 'no';
  useKeys();
  return (
    <>
      <div className="behind" hidden={signedOut}>
        <Screen />
      </div>
      {signedOut && <SignIn expired={needed === 'expired'} />}
    </>
  );
}
