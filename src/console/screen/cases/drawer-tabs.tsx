import { goTo, type Panel } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';

const parts = [null, 'cases', 'inputs', 'replay', 'release'] as const;

/** The panels below the tree: the history, the saved cases, many inputs at once, earlier runs made again, or whether the rules can be released. */
export function DrawerTabs({ shown }: { shown: Panel | null }) {
  const { say } = useText();
  const current = shown === 'coverage' ? 'cases' : shown;
  // The history has a heading of its own.
  const offered = shown === null ? parts.filter((part) => part !== null) : parts;
  return (
    <nav className="drawer-tabs" aria-label={say('drawer.label')}>
      {offered.map((part) => (
        <button
          type="button"
          key={part ?? 'history'}
          aria-current={part === current ? 'page' : undefined}
          // Each shows batches of its own.
          onClick={() => part !== shown && goTo({ panel: part, batch: null, item: null, caseName: null })}
        >
          {say(`drawer.${part ?? 'history'}`)}
        </button>
      ))}
    </nav>
  );
}
