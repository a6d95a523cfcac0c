// node call.mjs http://127.0.0.1:8080 9001
import { setTimeout as sleep } from 'node:timers/promises';

const [url, app] = process.argv.slice(2);
const body = JSON.stringify({ app: Number(app), ruleId: 1, 'the service': { uid: JSON.rawJSON('9007199254740993') } });
const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
const exact = (_, value, { source = '' }) => (/^-?\d+$/.test(source) && `${value}` !== source ? BigInt(source) : value);
let answer = { error: 'Nothing answered.', mayHaveRun: true };
for (const pause of [1, 2, 4, 8, 0]) {
  const response = await fetch(`${url}/rule-server/mock/execute`, { method: 'POST', headers, body }).catch(() => null);
  if (response) answer = JSON.parse(await response.text(), exact);
  const again = response ? response.headers.get('retry-after') : pause;
  if (!again || !pause) break;
  await sleep(1000 * again); // then the same key again: it runs at most once
}
if (!('mayHaveRun' in answer)) console.log(`${answer.outcome} ${answer['the service'].uid}`);
else {
  console.error(`${answer.error} mayHaveRun: ${answer.mayHaveRun}`);
  process.exitCode = 1;
}
