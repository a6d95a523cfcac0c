import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { httpCall } from './http-call.ts';

/** Calls of rule 1 of an app at the service on a port. The port is asked for at each call: each test has another one. */
export function callsAt(port: () => number, app: number) {
  const url = (path: string) => `http://127.0.0.1:${port()}/rule-server/mock/${path}`;
  return {
    url,
    run: (uid: number, headers: Record<string, string> = {}) =>
      httpCall(url('execute'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ app, ruleId: 1, 'the service': { uid } }),
      }),
    /** Waits until it takes calls: its worker takes jobs a moment earlier. */
    listens: () =>
      eventually(async () => expect((await httpCall(`http://127.0.0.1:${port()}/readyz`)).status).toBe(200)),
  };
}
