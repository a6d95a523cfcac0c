import { callerSchema, type Permission } from '../../shared/contract/caller.ts';
import { getAs } from './request.ts';

export type { Permission };

/** The page's caller. `name`: null where no key is needed. */
type Caller = { name: string | null; may: ReadonlySet<Permission> };

export async function getCaller(signal?: AbortSignal): Promise<Caller> {
  const { name, may } = await getAs('/session', callerSchema, signal);
  return { name, may: new Set(may) };
}
