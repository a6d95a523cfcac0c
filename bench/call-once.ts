import { countFailures, type Failures } from './failures.ts';
import { executeCall } from './load.ts';

/** How one call went. `why`: what it was answered instead of 200, or what broke. */
export type Outcome = { ms: number; why: string | undefined };

/** One call of execute. `members`: those beside the usual ones. */
export async function callOnce(url: string, members: object = {}): Promise<Outcome> {
  const { url: at, method, headers, body } = executeCall(url, members);
  const startedAt = performance.now();
  const why = await fetch(at, { method, headers, body }).then(
    async (response) => {
      const text = await response.text();
      return response.status === 200 ? undefined : `${response.status} ${text.slice(0, 300)}`;
    },
    (error: Error) => `no answer: ${error.message}`,
  );
  return { ms: performance.now() - startedAt, why };
}

export function failuresIn(outcomes: readonly Outcome[]): Failures {
  const failures = countFailures();
  for (const { why } of outcomes) if (why !== undefined) failures.add(why);
  return failures.soFar();
}
