import { goTo, type Panel, type Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';

const parts = ['input', 'result', 'details'] as const;
/** What a narrow screen shows of the rule: one part at a time, or the page that is open. */
export type Part = (typeof parts)[number] | 'page';

/** The pages beside the rule. */
export const pages = ['history', 'cases', 'inputs', 'replay', 'release'] as const;

type Props = { place: Place; part: Part; onPart: (part: Part) => void };

/** The way to everything there is: the rule, whose parts a narrow screen shows one at a time, and the pages beside it. */
export function Views({ place, part, onPart }: Props) {
  const { say } = useText();
  const page = place.panel === 'coverage' ? 'cases' : place.panel;
  const toRule = { panel: null, batch: null, item: null, caseName: null };
  const toPart = (next: Part) => {
    onPart(next);
    if (page !== null && !isBeside(place)) goTo(toRule, { push: true });
  };
  const toPage = (next: Panel) => {
    onPart('page');
    openPage(place, next);
  };
  return (
    <nav className="views" aria-label={say('nav.label')}>
      <button
        type="button"
        className="of-wide"
        aria-current={page === null ? 'page' : undefined}
        onClick={() => page !== null && goTo(toRule, { push: true })}
      >
        {say('nav.rule')}
      </button>
      {parts.map((name) => (
        <button
          type="button"
          className="of-narrow"
          key={name}
          aria-current={part === name ? 'page' : undefined}
          onClick={() => toPart(name)}
        >
          {say(`nav.${name}`)}
        </button>
      ))}
      {pages.map((name) => (
        <button type="button" key={name} aria-current={name === page ? 'page' : undefined} onClick={() => toPage(name)}>
          {say(`drawer.${name}`)}
        </button>
      ))}
    </nav>
  );
}

/** Opens a page, without what was open on another one. */
export function openPage({ panel }: Place, next: Panel): void {
  const page = panel === 'coverage' ? 'cases' : panel;
  // Each page shows batches of its own.
  const own = page === next ? {} : { batch: null };
  goTo({ panel: next, item: null, caseName: null, runs: [], ...own }, { push: true });
}

/** Whether a run stands above the page that is open: one of its items, one of its cases, or some that are compared. */
export function isBeside({ panel, item, caseName, runs }: Place): boolean {
  return panel !== null && (item !== null || caseName !== null || runs.length > 0);
}
