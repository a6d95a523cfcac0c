// Makes one call through the gateway of a composition that has just been started, and checks the client's answer.
// Usage: node .ci/call-through-gateway.js http://127.0.0.1:8080
const [, , base] = process.argv;
const DEADLINE_MS = 60_000;
const call = { app: 9001, ruleId: 1, 'the service': { uid: 1, cost: 120, note: 'an input that no log may show' } };
const until = Date.now() + DEADLINE_MS;

// The client needs a moment to announce itself: until then the service says that nobody is there.
let seen = 'nothing';
while (Date.now() < until) {
  try {
    const response = await fetch(`${base}/rule-server/mock/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    seen = `${response.status} ${await response.text()}`;
    if (response.status === 200) break;
  } catch (error) {
    seen = String(error.cause ?? error);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
}

console.log(`POST ${JSON.stringify(call)}\n${seen}`);
if (!/^200 .*"success":true/s.test(seen)) {
  console.error('The client did not run the rule.');
  process.exit(1);
}
