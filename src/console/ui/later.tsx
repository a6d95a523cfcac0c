import { type ComponentType, createContext, lazy, Suspense, useContext, useReducer } from 'react';
import type { TextKey } from '../text/en.ts';
import { useText } from '../text/use-text.tsx';
import { Loading } from './announce.tsx';
import { Button } from './button.tsx';

const AskAgain = createContext(() => {});

/**
 * A part of the page that is fetched when it is first drawn; meanwhile `text` stands in its place. One that cannot be fetched leaves the others
 * as they are.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>, text: TextKey | null = null) {
  const fetched = () =>
    lazy<ComponentType<Props>>(() =>
      load().then(
        (part) => ({ default: part }),
        () => ({ default: NotFetched }),
      ),
    );
  let Part = fetched();
  return (props: Props) => {
    const [, redraw] = useReducer((count: number) => count + 1, 0);
    const again = () => {
      Part = fetched();
      redraw();
    };
    return (
      <AskAgain value={again}>
        <Suspense fallback={text && <Loading text={text} />}>
          <Part {...props} />
        </Suspense>
      </AskAgain>
    );
  };
}

function NotFetched() {
  const { say } = useText();
  return (
    <p className="notice bad" role="alert">
      {say('failed.part')} <Button label={say('state.askAgain')} className="quiet" onPress={useContext(AskAgain)} />
    </p>
  );
}
