import type { Settings } from '../../shared/runtime/settings.ts';
import type { StoreRun } from '../../shared/store/queue-backend.ts';
import type { Claims } from '../files/claims.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { ClientSlots } from '../placement/client-slots.ts';
import type { Inspections } from '../placement/inspections.ts';
import type { ResolveTarget } from '../placement/resolve-target.ts';
import type { UnwritableClients } from '../placement/unwritable-clients.ts';
import type { Interrupts } from './interrupts.ts';
import type { AtStep } from './steps.ts';

/** The parts of a worker that beginning an execution needs. */
export type BeginParts = {
  claims: Claims;
  sharedDirectory: SharedDirectory;
  resolveTarget: ResolveTarget;
  inspections: Inspections;
  slots: ClientSlots;
  unwritable: UnwritableClients;
  storeRun: StoreRun;
  interrupts: Interrupts;
  settings: Settings;
  atStep: AtStep;
};
