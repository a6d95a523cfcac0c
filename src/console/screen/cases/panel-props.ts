import type { Place } from '../../state/location.ts';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Pressed } from './results-table.tsx';

/** What every panel below the tree is given. */
export type PanelProps = { place: Place; rule: RuleContext; onOpen: (pressed: Pressed) => void };
