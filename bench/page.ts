// `node bench/page.ts [checkout …]`: the first use of the page in Chromium at 1.6 Mbit/s, 150 ms and a quarter of the processor, in several
// checkouts (each with its node_modules and its console built), in turn: when Run can be pressed, and the bytes until then. Beside each: the
// time by that of the first checkout.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findChromium, launchChromium } from '../test/support/browser.ts';
import { median } from './median.ts';
import { freePort, kill, startEmbedded, untilReady } from './processes.ts';

const TURNS = Number(process.env.BENCH_TURNS ?? 7);
const SLOWER = 4;
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const given = process.argv.slice(2);
const checkouts = given.length > 0 ? given : [join(import.meta.dirname, '..')];
type Uses = { checkout: string; usable: number[]; bytes: number[] };
const took = checkouts.map((checkout): Uses => ({ checkout, usable: [], bytes: [] }));
const browser = await launchChromium((await findChromium()) ?? 'chromium');

for (let turn = 0; turn < TURNS; turn++)
  for (const { checkout, usable, bytes } of turn % 2 ? took.toReversed() : took) {
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-page-'));
    const PORT = String(await freePort());
    const url = `http://127.0.0.1:${PORT}`;
    const service = startEmbedded(folder, { PORT }, checkout);
    await untilReady(`${url}/rule-server/mock/clients?app=9001`, 60_000);
    const page = await browser.newPage();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    await devtools.send('Network.emulateNetworkConditions', NETWORK);
    let received = 0;
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
      received += encodedDataLength;
    });
    const began = performance.now();
    await page.goto(`${url}/?app=9001&rule=1`, { waitUntil: 'commit' });
    await page.locator('.tree-row').nth(8).waitFor();
    await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
    usable.push(performance.now() - began);
    bytes.push(received);
    await page.close();
    await kill(service);
    await rm(folder, { recursive: true });
  }
await browser.close();

for (const { checkout, usable, bytes } of took) {
  const beside = median(usable) / median(took[0]?.usable ?? usable);
  console.log(
    `${basename(checkout).padEnd(16)} usable after ${median(usable).toFixed(0).padStart(5)} ms (${beside.toFixed(2)}), ${(median(bytes) / 1024).toFixed(0)} KiB`,
  );
}
