import { scanJson } from '../contract/json/exact-json.ts';

/** The elements of a JSON array as they are written. The text has been checked to be JSON already. */
export function elementsOf(raw: string): string[] {
  const scanned = scanJson(raw);
  return scanned.kind === 'complete' ? scanned.members.map((member) => member.raw) : [];
}

/** The same array with other elements. */
export function mapElements(raw: string, change: (element: string) => string): string {
  return `[${elementsOf(raw).map(change).join(',')}]`;
}
