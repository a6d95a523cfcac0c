import { z } from 'zod';
import { parseJson } from '../shared/contract/json/parse-json.ts';
import { RawNumber } from '../shared/contract/json/raw-number.ts';
import { visibleJson } from '../shared/contract/json/visible-text.ts';
import { exitCodeOfAnswer, exitCodes } from './terminal/exit-codes.ts';
import { createHttpApi, errorOf } from './terminal/http-api.ts';
import { CommandFailed, type Surroundings } from './terminal/surroundings.ts';
import { table } from './terminal/table.ts';

export type ClientsOptions = { app: string; url: string; key?: string; json?: boolean };

const answerSchema = z.object({
  clients: z.array(
    z.object({
      address: z.string(),
      lane: z.string().nullable(),
      state: z.string(),
      sdk: z.string(),
      heartbeatAgeMs: z.number().nullable(),
      loadedVersion: z.union([z.number(), z.instanceof(RawNumber)]).nullable(),
      open: z.number(),
      lastPickUpAt: z.number().nullable(),
      noPickUpSince: z.number().nullable(),
    }),
  ),
});

/** Lists the clients of an app. Ends with 0 when one of them is there, with 3 when nobody is. */
export async function clients({ app, json, ...where }: ClientsOptions, { stdout }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: where.url, key: where.key });
  const { status, text } = await api.call(`/rule-server/mock/clients?app=${encodeURIComponent(app)}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status));
  const { clients: all } = answerSchema.parse(parseJson(text));
  stdout.write(
    json ? `${visibleJson(text)}\n` : all.length > 0 ? table(HEADINGS, all.map(row)) : `App ${app} has no clients.\n`,
  );
  return all.some(({ state }) => state !== 'offline') ? exitCodes.ok : exitCodes.rejected;
}

const HEADINGS = ['ADDRESS', 'LANE', 'STATE', 'HEARTBEAT', 'SDK', 'VERSION', 'OPEN', 'LAST PICK-UP'];

function row({
  address,
  lane,
  state,
  heartbeatAgeMs,
  sdk,
  loadedVersion,
  open,
  lastPickUpAt,
  noPickUpSince,
}: z.infer<typeof answerSchema>['clients'][number]) {
  const heartbeat = heartbeatAgeMs === null ? '' : `${(heartbeatAgeMs / 1000).toFixed(1)} s ago`;
  const last = lastPickUpAt === null ? '' : isoTime(lastPickUpAt);
  const pickUp = noPickUpSince === null ? last : `none since ${isoTime(noPickUpSince)}`;
  return [address, lane ?? '', state, heartbeat, sdk, String(loadedVersion ?? ''), String(open), pickUp];
}

const isoTime = (epochMs: number) => new Date(epochMs).toISOString();
