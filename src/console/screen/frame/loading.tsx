import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';

/** Something is being fetched, in words; drawn only when it takes long enough to wonder. */
export function Loading({ text }: { text: TextKey }) {
  const { say } = useText();
  return (
    <p className="loading" role="status">
      {say(text)}
    </p>
  );
}
