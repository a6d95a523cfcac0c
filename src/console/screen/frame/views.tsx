import { type Panel, type Place, toPage } from '../../state/location.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';

const parts = ['input', 'result', 'details'] as const;
/** What a narrow screen shows of the rule: one part at a time, or the page that is open. */
export type Part = (typeof parts)[number] | 'page';

/** The places of the console, and the key that goes there after `g`. */
export const places: readonly { panel: Panel | null; title: TextKey; key: string }[] = [
  { panel: null, title: 'nav.rule', key: 'r' },
  { panel: 'history', title: 'nav.history', key: 'h' },
  { panel: 'tests', title: 'nav.tests', key: 't' },
  { panel: 'ship', title: 'nav.ship', key: 's' },
];

type Props = { place: Place; part: Part; onPart: (part: Part) => void };

/** The way to everything there is: the rule, whose parts a narrow screen shows one at a time, and the other places. */
export function Views({ place, part, onPart }: Props) {
  const { say } = useText();
  const away = place.panel !== null && !isBeside(place);
  return (
    <nav className="views" aria-label={say('nav.label')}>
      {parts.map((name) => (
        <PlaceLink
          className="of-narrow"
          key={name}
          to={away ? toPage(null) : {}}
          aria-current={part === name ? 'page' : undefined}
          onPress={() => onPart(name)}
        >
          {say(`nav.${name}`)}
        </PlaceLink>
      ))}
      {places.map(({ panel, title, key }) => (
        <PlaceLink
          className={panel === null ? 'of-wide' : undefined}
          key={key}
          to={toPage(panel)}
          aria-current={place.panel === panel ? 'page' : undefined}
          aria-keyshortcuts={`g ${key}`}
          onPress={() => onPart(panel === null ? 'result' : 'page')}
        >
          {say(title)}
        </PlaceLink>
      ))}
    </nav>
  );
}

/** Whether a run stands above the page that is open: that of one of its items, or of one of its cases. */
export function isBeside({ panel, item, caseName }: Place): boolean {
  return panel !== null && (item !== null || caseName !== null);
}
