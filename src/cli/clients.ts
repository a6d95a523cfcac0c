import { visibleJson } from '../shared/contract/json/visible-text.ts';
import { type Client, clientListSchema } from '../shared/contract/rules-and-clients.ts';
import { exitCodes } from './terminal/exit-codes.ts';
import { createHttpApi, get, readAnswer } from './terminal/http-api.ts';
import type { Surroundings } from './terminal/surroundings.ts';
import { table } from './terminal/table.ts';

type ClientsOptions = { app: string; url: string; key?: string; json?: boolean };

/** Lists the clients of an app. Ends with 0 when one of them is there, with 3 when nobody is. */
export async function clients({ app, json, ...where }: ClientsOptions, { stdout }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: where.url, key: where.key });
  const text = await get(api, 'clients', { app });
  const { items: all } = readAnswer(clientListSchema, text);
  stdout.write(
    json ? `${visibleJson(text)}\n` : all.length > 0 ? table(HEADINGS, all.map(row)) : `App ${app} has no clients.\n`,
  );
  return all.some(({ state }) => state !== 'offline') ? exitCodes.ok : exitCodes.rejected;
}

const HEADINGS = ['ADDRESS', 'LANE', 'STATE', 'HEARTBEAT', 'SDK', 'VERSION', 'OPEN', 'LAST PICK-UP'];

function row({ address, lane, state, heartbeatAgeMs, sdk, loadedVersion, open, lastPickUpAt, noPickUpSince }: Client) {
  const heartbeat = heartbeatAgeMs === null ? '' : `${(heartbeatAgeMs / 1000).toFixed(1)} s ago`;
  const last = lastPickUpAt === null ? '' : isoTime(lastPickUpAt);
  const pickUp = noPickUpSince === null ? last : `none since ${isoTime(noPickUpSince)}`;
  return [address, lane ?? '', state, heartbeat, sdk, loadedVersion ?? '', String(open), pickUp];
}

const isoTime = (epochMs: number) => new Date(epochMs).toISOString();
