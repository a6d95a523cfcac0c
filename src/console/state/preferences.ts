import { isTimeZone } from '../../shared/contract/moment.ts';
import type { Decision } from '../../shared/reasoning/trace/node-trace.ts';
import { createStored, isRecord } from './stored.ts';

export type Language = 'en' | 'zh';
export type Theme = 'system' | 'light' | 'dark';

/** Null until somebody chooses: then the browser's language counts. */
const language = createStored<Language | null>('language', {
  read: (stored) => (stored === 'en' || stored === 'zh' ? stored : null),
});

export function useLanguage(): Language {
  return language.use() ?? (window.navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en');
}
export const chooseLanguage = language.set;

/** Null until somebody chooses: then the browser's time zone counts. */
const zone = createStored<string | null>('zone', {
  read: (stored) => (typeof stored === 'string' && isTimeZone(stored) ? stored : null),
});

export function useZone(): string {
  return zone.use() ?? browserZone() ?? 'UTC';
}
/** The zone of the page where it is another than the browser's, which nobody would guess; else null. */
export function useForeignZone(): string | null {
  const chosen = useZone();
  return chosen === browserZone() ? null : chosen;
}
/** The browser's name for a time zone that it does not know itself, such as Etc/Unknown, until a reader chooses one; null elsewhere. */
export function useUnknownZone(): string | null {
  return zone.use() === null && browserZone() === null ? `${namedZone()}` : null;
}
export const chooseZone = zone.set;

/** The zones to choose from: the one that is chosen, the browser's and UTC first. */
export function zones(chosen: string): string[] {
  return [...new Set([chosen, browserZone() ?? 'UTC', 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}

function browserZone(): string | null {
  const name = namedZone();
  return name !== undefined && isTimeZone(name) ? name : null;
}

const namedZone = (): string | undefined => new Intl.DateTimeFormat().resolvedOptions().timeZone;

// `public/early.js` reads the same key before anything is drawn.
const theme = createStored<Theme>('theme', {
  read: (stored) => (stored === 'light' || stored === 'dark' ? stored : 'system'),
});

export const useTheme = theme.use;
export function chooseTheme(next: Theme): void {
  theme.set(next);
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

/** The apps whose runs are to have no effects. Of the tab: what is unticked in one must not make the runs of another real. */
const dryApps = createStored<readonly string[]>('dry-apps', {
  ofTab: true,
  read: (stored) => (Array.isArray(stored) ? stored.filter((app) => typeof app === 'string') : []),
});

export function chooseDry(app: string | null, isDry: boolean): void {
  const others = dryApps.get().filter((other) => other !== app);
  dryApps.set(app !== null && isDry ? [...others, app] : others);
}

export const isDry = (app: string | null): boolean => dryApps.get().some((dry) => dry === app);
export const useIsDry = (app: string | null): boolean => dryApps.use().some((dry) => dry === app);

/** Whether the choices of client and time are unfolded. */
export const whereShown = createStored<boolean>('where-shown', { read: (stored) => stored === true });

/** Whether the timings of an ended run are open. */
export const timingsShown = createStored<boolean>('timings-shown', { read: (stored) => stored === true });

/** The widths that a reader gave to panes; null where they have their own. */
type PaneWidths = { input: number | null; details: number | null };
export const paneWidths = createStored<PaneWidths>('pane-widths', {
  read: (stored) => {
    const width = (pane: keyof PaneWidths) => {
      const kept = isRecord(stored) ? stored[pane] : null;
      return typeof kept === 'number' ? kept : null;
    };
    return { input: width('input'), details: width('details') };
  },
});

/** The app of the last visit. */
export const lastApp = createStored<string | null>('app', {
  read: (stored) => (typeof stored === 'string' ? stored : null),
});

/** The replacements of nodes in dry runs, by the id of the node. */
export type Pins = Readonly<Record<string, Decision>>;

const decisions: readonly Decision[] = ['TRUE', 'FALSE', 'NONE'];

const nodePins = createStored<Readonly<Record<string, Pins>>>('node-pins', {
  read: (stored) =>
    Object.fromEntries(Object.entries(isRecord(stored) ? stored : {}).map(([app, pins]) => [app, readPins(pins)])),
});

const none: Pins = {};

export function usePins(app: string | null): Pins {
  return nodePins.use()[app ?? ''] ?? none;
}

/** Puts an outcome in the place of a node, or (null) the node itself again. */
export function pinNode(app: string, nodeId: string, outcome: Decision | null): void {
  const { [nodeId]: _, ...others } = nodePins.get()[app] ?? none;
  nodePins.set({ ...nodePins.get(), [app]: outcome === null ? others : { ...others, [nodeId]: outcome } });
}

function readPins(stored: unknown): Pins {
  return Object.fromEntries(
    Object.entries(isRecord(stored) ? stored : {}).flatMap(([id, written]) => {
      const outcome = decisions.find((decision) => decision === written);
      return /^\d{1,19}$/.test(id) && outcome ? [[id, outcome]] : [];
    }),
  );
}
