// `node bench/held-calls.ts`: the memory of a process that does nothing but hold 10,000 calls open: with bare node:http, behind Hono, and
// behind Hono with 15 empty layers (the API has 14, and more with traces or CORS). What `open-waits` finds beyond it is ours.
//   OPEN=10000
import { setTimeout as sleep } from 'node:timers/promises';
import { executeCall } from './load.ts';
import { startScript, stop, usage } from './processes.ts';

const OPEN = Number(process.env.OPEN ?? 10_000);
const AT_ONCE = 200;
const LAYERS = 15;

const kinds = { 'node:http': ['node'], Hono: ['hono', '0'], [`Hono, ${LAYERS} layers`]: ['hono', String(LAYERS)] };
for (const [name, parameters] of Object.entries(kinds)) {
  const { child, message: port } = await startScript('./held-server.ts', parameters);
  const { url, ...call } = executeCall(`http://127.0.0.1:${port}`);
  const before = usage(child).megabytes;
  for (let open = 0; open < OPEN; open += AT_ONCE) {
    for (let n = 0; n < AT_ONCE; n++) fetch(url, call).catch(() => {}); // it ends with the process that holds it
    await sleep(100);
  }
  await sleep(3000);
  const after = usage(child).megabytes;
  const each = ((after - before) * 1000) / OPEN;
  console.log(
    `${name.padEnd(16)} ${before.toFixed(0)} MB, with ${OPEN} calls ${after.toFixed(0)} MB: ${each.toFixed(1)} kB each`,
  );
  await stop(child);
}
process.exit();
