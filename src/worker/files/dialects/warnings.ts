import type { SdkName } from '../../../shared/contract/client-kinds.ts';
import type { Warning } from '../../../shared/contract/job.ts';
import { scanJson } from '../../../shared/contract/json/exact-json.ts';
import { largeNumberIn, sdks } from './sdks.ts';

type From = { sdk: SdkName; address: string };

/** A failure says little, so a longer answer than this is not searched for its reason. */
const MAX_SEARCHED = 64 * 1024;
const NAMED_AT_MOST = 3;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Warns the caller about the input that this client is given. */
export function inputWarnings({ sdk, address }: From, input: string): Warning[] {
  const { roundsAs, largeNumbers, label } = sdks[sdk];
  const large = largeNumbers === 'changed' ? largeNumberIn(input) : undefined;
  if (large) {
    const message = `Client ${address} (${label}) cannot hold ${large.text} at ${large.path} of the input: its rule sees something else.`;
    return [{ code: 'out-of-range', message }];
  }
  const rounded = roundsAs === null ? [] : largeIntegers(input).filter((integer) => asFloat(integer) !== integer);
  const [first, ...others] = rounded;
  if (first === undefined) return [];
  const named = others.slice(0, NAMED_AT_MOST).map((integer) => `, of ${integer} ${asFloat(integer)}`);
  const more = others.length > NAMED_AT_MOST ? `, and so on for ${others.length - NAMED_AT_MOST} more` : '';
  const seen = `of ${first} in the input its rule sees ${asFloat(first)}${named.join('')}${more}`;
  return [precision(`Client ${address} (${roundsAs}) reads numbers as 64-bit floats: ${seen}.`)];
}

/** Warns the caller about the answer of this client. `input`: a number that is written there as well is exact. */
export function answerWarnings(
  { sdk, address }: From,
  { body, success, input }: { body: string; success: boolean; input: string },
): Warning[] {
  const { roundsAs } = sdks[sdk];
  const given = new Set(
    roundsAs === null ? [] : largeIntegers(input).filter((integer) => asFloat(integer) === integer),
  );
  const integer = roundsAs === null ? undefined : largeIntegers(body).find((found) => !given.has(found));
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

/** A client need not list a class that it runs all the same: the trace of its answer has the node. */
export function withoutRefuted(warnings: Warning[], body: string): Warning[] {
  if (!warnings.some(({ code }) => code === 'missing-leaf-class')) return warnings;
  const scanned = scanJson(body);
  const process = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === 'process') : undefined;
  const ran = ({ code, nodeId }: Warning) => code === 'missing-leaf-class' && process?.raw.includes(`[${nodeId}:`);
  return warnings.filter((warning) => !ran(warning));
}

function precision(message: string): Warning {
  return { code: 'precision', message };
}

/** The integers that a 64-bit float cannot tell from their neighbours, each once, as they are written. */
function largeIntegers(json: string): string[] {
  if (!/\d{16}/.test(json)) return [];
  const tokens = [...json.matchAll(STRING_OR_NUMBER)].map(([token]) => token);
  return [...new Set(tokens.filter((token) => /^-?\d{16,308}$/.test(token) && !Number.isSafeInteger(Number(token))))];
}

const asFloat = (integer: string) => BigInt(Number(integer)).toString();

function givesReason(body: string): boolean {
  const scanned = scanJson(body);
  const error = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === 'error') : undefined;
  return error !== undefined && error.kind !== 'null' && error.raw !== '""';
}
