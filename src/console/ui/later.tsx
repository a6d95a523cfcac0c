import { type ComponentType, lazy, Suspense } from 'react';
import type { TextKey } from '../text/en.ts';
import { Loading } from './announce.tsx';

/** A part of the page that is fetched when it is first drawn; meanwhile `text` stands in its place. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>, text: TextKey | null = null) {
  const Part = lazy(() => load().then((part) => ({ default: part })));
  return (props: Props) => (
    <Suspense fallback={text && <Loading text={text} />}>
      <Part {...props} />
    </Suspense>
  );
}
