import type { Place } from '../../state/location.ts';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Pressed } from './results-table.tsx';

/** The properties of every panel below the tree. */
export type PanelProps = { place: Place; rule: RuleContext; onOpen: (pressed: Pressed) => void };
