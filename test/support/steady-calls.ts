import { atTestEnd } from './at-test-end.ts';
import type { Answer } from './http-call.ts';

/** One call of many: its number, when it was made, how long it took, and its answer or what went wrong. */
export type Called = {
  number: number;
  at: number;
  ms: number;
  answer: Answer | { status: 0; json: { error: string } };
};

type Rate = {
  perSecond: number;
  /** A machine too busy for that rate gets a lower one instead of an ever longer queue. */
  openAtMost?: number;
};

/** Calls at a steady rate, each with a number of its own, until `stop`, which waits for the last answer. */
export function callSteadily({ perSecond, openAtMost = 100 }: Rate, call: (number: number) => Promise<Answer>) {
  const calls: Promise<Called>[] = [];
  const startedAt = Date.now();
  let skipped = 0;
  let open = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((Date.now() - startedAt) * perSecond) / 1000);
    for (; calls.length + skipped < due; ) {
      if (open < openAtMost) calls.push(one(calls.length));
      else skipped++;
    }
  }, 5);
  atTestEnd(() => clearInterval(timer));

  async function one(number: number): Promise<Called> {
    const at = Date.now();
    open++;
    const answer = await call(number).catch((error) => ({ status: 0 as const, json: { error: String(error) } }));
    open--;
    return { number, at, ms: Date.now() - at, answer };
  }

  return {
    get count() {
      return calls.length;
    },
    async stop(): Promise<Called[]> {
      clearInterval(timer);
      return Promise.all(calls);
    },
  };
}

/** Calls that did not get the answer an echoing client gives to exactly that call: how many, and the first of them. */
export function strangers(called: Called[]): unknown[] {
  const found = called.filter(
    ({ number, answer }) => answer.status !== 200 || answer.json['the service']?.number !== number,
  );
  const first = found
    .slice(0, 3)
    .map(({ answer, ...rest }) => ({ ...rest, status: answer.status, ...brief(answer.json) }));
  return found.length > 0 ? [`${found.length} of ${called.length}`, ...first] : [];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
function brief(json: any) {
  return { code: json?.code, mayHaveRun: json?.mayHaveRun, error: json?.error, data: json?.['the service'] };
}

/** Ids of requests that appeared more than once. */
export function twice(found: { mockId: string }[]): string[] {
  const ids = found.map(({ mockId }) => mockId);
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}
