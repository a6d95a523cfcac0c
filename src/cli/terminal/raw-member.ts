import { scanJson } from '../../shared/contract/json/exact-json.ts';

/** A member of a JSON object as it was written; undefined when it is not there or null. */
export function rawMember(json: string, name: string): string | undefined {
  const scanned = scanJson(json);
  const raw = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === name)?.raw : undefined;
  return raw === 'null' ? undefined : raw;
}
