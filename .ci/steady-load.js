// Calls the demo client through the gateway at a steady rate until SIGTERM, waits for the last answers, and prints how many there
// were of each kind. Ends with 1 when any call got something else than the client's answer.
// Usage: node .ci/steady-load.js http://127.0.0.1:8080 80
const [, , base, perSecond] = process.argv;
/** A machine too busy for that rate gets a lower one instead of an ever longer queue. */
const OPEN_AT_MOST = 50;
const startedAt = Date.now();
const seen = new Map();
const calls = new Set();
let made = 0;
let skipped = 0;
let stopping = false;

async function call(number) {
  const body = JSON.stringify({ app: 9001, ruleId: 1, 'the service': { uid: number, cost: 120 } });
  const kind = await fetch(`${base}/rule-server/mock/execute`, { method: 'POST', body })
    .then(async (response) => {
      const text = await response.text();
      const isIts = response.status === 200 && JSON.parse(text)['the service'].uid === number;
      return isIts ? 'answered' : `${response.status} ${text.slice(0, 300)}`;
    })
    .catch((error) => String(error.cause ?? error));
  if (kind !== 'answered') console.log(`${((Date.now() - startedAt) / 1000).toFixed(1)} s: ${kind}`);
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
}

const timer = setInterval(() => {
  for (const due = ((Date.now() - startedAt) * Number(perSecond)) / 1000; !stopping && made + skipped < due; ) {
    if (calls.size >= OPEN_AT_MOST) skipped++;
    else {
      const open = call(made++).finally(() => calls.delete(open));
      calls.add(open);
    }
  }
}, 5);

process.on('SIGTERM', async () => {
  stopping = true;
  clearInterval(timer);
  await Promise.all(calls);
  console.log(JSON.stringify(Object.fromEntries(seen)));
  process.exit(made > 0 && seen.get('answered') === made ? 0 : 1);
});
