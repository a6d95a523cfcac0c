import { field, list, text } from '../../shared/contract/json/read-exact.ts';
import { get } from './request.ts';

/** The permissions of a key. */
export type Permission = 'read' | 'run' | 'cancel' | 'cases' | 'ops';

/** The page's caller. `name`: null where no key is needed. */
type Caller = { name: string | null; may: ReadonlySet<string> };

export function getCaller(signal?: AbortSignal): Promise<Caller> {
  const read = (answer: Parameters<typeof field>[0]): Caller => ({
    name: text(field(answer, 'name')),
    may: new Set(list(field(answer, 'may')).flatMap((permission) => text(permission) ?? [])),
  });
  return get('/session', read, signal);
}
