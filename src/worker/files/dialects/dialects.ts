import { type DialectName, dialectNames } from '../../../shared/contract/client-kinds.ts';
import type { Dialect, RegistrationHead } from './dialect.ts';
import { iceDialect } from './ice.ts';
import { ruleDialect } from './rule.ts';

/**
 * The dialects of clients. A new one is a file of type `Dialect`, added here, to the names in `contract/client-kinds.ts`, and to the SDKs that
 * write it (`sdks.ts`). One that is recognised by a new field of registrations also touches `clients/registration.ts`. A new SDK has a name on
 * the page: `sdkKey` in `console/screen/input/target-now.tsx`.
 */
export const dialects: Record<DialectName, Dialect> = { rule: ruleDialect, ice: iceDialect };

/** The dialect of a client that says nothing about itself. */
export const OWN_DIALECT: DialectName = 'rule';

/** The dialect that a registration is written in: ours when no other one is recognised. */
export function dialectOf(registration: RegistrationHead): DialectName {
  const others = dialectNames.filter((name) => name !== OWN_DIALECT);
  return others.find((name) => dialects[name].recognises(registration)) ?? OWN_DIALECT;
}
