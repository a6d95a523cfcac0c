import { readCase } from '../../shared/cases/read-case.ts';
import { readMembers, readText } from '../../shared/cases/read-members.ts';
import { createRefusals, noLines } from '../../shared/cases/refusal.ts';
import { parseExact, scanJson } from '../../shared/contract/exact-json.ts';
import { stringifyExact } from '../../shared/contract/raw-number.ts';
import { decodeUtf8 } from '../../shared/contract/utf8.ts';
import type { Problem } from '../calls/read-request.ts';
import type { Change } from './document-tasks.ts';

/** Reads `{upsert, remove}`: a case as documents write it, and the name of one. Numbers stay as they are written. */
export function readChange(
  bytes: Uint8Array,
): { kind: 'change'; change: Change } | { kind: 'bad'; problems: Problem[] } {
  const decoded = decodeUtf8(bytes);
  const scanned = decoded.kind === 'text' ? scanJson(decoded.text) : null;
  if (scanned?.kind !== 'complete' || scanned.type !== 'object')
    return {
      kind: 'bad',
      problems: [{ field: 'body', message: 'must be a JSON object such as {"upsert":{"name":"…"}}' }],
    };
  const refusals = createRefusals(noLines);
  const members = readMembers(scanned.raw, { path: [], known: ['upsert', 'remove'], refusals });
  const remove = readText(members.get('remove'), ['remove'], refusals) ?? null;
  const given = members.get('upsert');
  const options = { writing: 'document', path: ['upsert'], refusals, lineOf: noLines, defaults: [] } as const;
  const upsert = given
    ? { name: readCase(given.raw, options).name, json: stringifyExact(parseExact(given.raw)) }
    : null;
  if (upsert === null && remove === null) refusals.add(['upsert'], 'is missing: give upsert, remove, or both');
  const problems = [
    ...scanned.duplicates.map((path) => ({ field: path, message: 'is given twice' })),
    ...refusals.all.map(({ path, message }) => ({ field: path, message })),
  ];
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'change', change: { upsert, remove } };
}
