import { access } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium-headless-shell', // without a window of its own: a third less to do
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** A Chromium of this machine, or undefined. `CHROMIUM_PATH` names one in an unusual place. */
export async function findChromium(): Promise<string | undefined> {
  for (const path of PLACES.filter((place) => place !== '')) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/** Starts it without a window. */
export function launchChromium(executablePath: string) {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
