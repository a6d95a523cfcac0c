// Waits until the Prometheus of a composition with two APIs and two workers scrapes them all, then checks that its rules are
// loaded and work, and that it understands every query of the dashboard.
// Usage: node .ci/look-through-prometheus.js http://127.0.0.1:9091
import { readFileSync } from 'node:fs';

const [, , base] = process.argv;
const DEADLINE_MS = 90_000;
const until = Date.now() + DEADLINE_MS;

const ask = async (path) => {
  const response = await fetch(`${base}/api/v1/${path}`);
  const answer = await response.json();
  if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
  return answer.data;
};

const query = async (text) => (await ask(`query?query=${encodeURIComponent(text)}`)).result;

/** Tries until a check holds; what it threw last is what was wrong. */
async function eventually(what, check) {
  for (;;) {
    try {
      console.log(`ok: ${what}: ${await check()}`);
      return;
    } catch (error) {
      if (Date.now() > until) throw new Error(`${what}: ${error.cause ?? error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

await eventually('two APIs and two workers are scraped', async () => {
  const { activeTargets } = await ask('targets');
  const seen = activeTargets
    .map(({ labels, health, lastError }) => `${labels.job} ${health} ${lastError}`.trim())
    .sort();
  const wanted = ['rule-server-api', 'rule-server-api', 'rule-server-worker', 'rule-server-worker'];
  if (seen.join() !== wanted.map((job) => `${job} up`).join()) throw new Error(seen.join(', ') || 'no targets');
  return seen.join(', ');
});
await eventually('every rule is loaded and was evaluated', async () => {
  const rules = (await ask('rules')).groups.flatMap((group) => group.rules);
  const bad = rules.filter(({ health }) => health !== 'ok').map(({ name, health }) => `${name} ${health}`);
  const alerts = rules.filter(({ type }) => type === 'alerting');
  if (alerts.length < 15 || bad.length > 0) throw new Error(bad.join(', ') || `${alerts.length} alerts`);
  return `${alerts.length} alerts, firing: ${alerts.filter(({ state }) => state === 'firing').length}`;
});
await eventually('the calls that were made are counted', async () => {
  const [sample] = await query('sum(rule_server_executions_total{code="answered"})');
  if (!(Number(sample?.value[1]) >= 4)) throw new Error(`found ${sample?.value[1]}`);
  return sample.value[1];
});

const dashboard = JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8'));
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
for (const text of queries) await query(text.replaceAll('$__rate_interval', '1m'));
console.log(`ok: Prometheus understands the ${queries.length} queries of the dashboard`);
