import type { SdkName } from '../../shared/contract/client-kinds.ts';
import { scanJson } from '../../shared/contract/exact-json.ts';
import type { Warning } from '../../shared/contract/job.ts';
import { sdks } from './sdks.ts';

type From = { sdk: SdkName; address: string };

/** A failure says little, so a longer answer than this is not searched for its reason. */
const MAX_SEARCHED = 64 * 1024;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** What a caller should know about the input this client is given. */
export function inputWarnings({ sdk, address }: From, input: string): Warning[] {
  const { roundsAs } = sdks[sdk];
  const integer = roundsAs === null ? undefined : firstUnsafeInteger(input);
  if (integer === undefined) return [];
  const rounded = BigInt(Number(integer)).toString();
  const seen = rounded === integer ? 'others as large do not reach it exactly' : `its rule sees ${rounded}`;
  return [
    precision(`Client ${address} (${roundsAs}) reads numbers as 64-bit floats: of ${integer} in the input ${seen}.`),
  ];
}

/** What a caller should know about the answer this client gave. */
export function answerWarnings(
  { sdk, address }: From,
  { body, success }: { body: string; success: boolean },
): Warning[] {
  const { roundsAs } = sdks[sdk];
  const integer = roundsAs === null ? undefined : firstUnsafeInteger(body);
  const warnings: Warning[] = [];
  if (integer !== undefined) {
    warnings.push(
      precision(
        `Client ${address} (${roundsAs}) keeps numbers as 64-bit floats: ${integer} in its answer may be rounded.`,
      ),
    );
  }
  if (!success && body.length <= MAX_SEARCHED && !givesReason(body)) {
    const message = `Client ${address} reports a failure without a reason: look at its log.`;
    warnings.push({ code: 'no-reason', message });
  }
  return warnings;
}

function precision(message: string): Warning {
  return { code: 'precision', message };
}

/** The first integer that a 64-bit float cannot tell from its neighbours, as it was written. */
function firstUnsafeInteger(json: string): string | undefined {
  if (!/\d{16}/.test(json)) return undefined;
  for (const [token] of json.matchAll(STRING_OR_NUMBER)) {
    if (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))) return token;
  }
  return undefined;
}

function givesReason(body: string): boolean {
  const scanned = scanJson(body);
  const error = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === 'error') : undefined;
  return error !== undefined && error.kind !== 'null' && error.raw !== '""';
}
