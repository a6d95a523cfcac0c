import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseExact } from '../../src/shared/contract/json/exact-json.ts';
import type { Registration } from '../../src/worker/rules/leaves/leaf-metadata.ts';
import { parseLeafNodes } from '../../src/worker/rules/leaves/leaf-nodes.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/registrations');

/** What one published client wrote about itself, as text. */
export function registrationText(sdk: 'go' | 'java' | 'python'): Promise<string> {
  return readFile(join(FOLDER, `latest_${sdk}.json`), 'utf8');
}

/** That client as the registry lists it, online on the trunk unless told otherwise. */
export async function registrationOf(
  sdk: 'go' | 'java' | 'python',
  members: Partial<Registration> = {},
): Promise<Registration> {
  const value = parseExact(await registrationText(sdk));
  const leafNodes = typeof value === 'object' && value !== null && 'leafNodes' in value ? value.leafNodes : null;
  return {
    address: sdk,
    lane: null,
    online: true,
    lastHeartbeat: 1000,
    leafNodes: parseLeafNodes(leafNodes),
    ...members,
  };
}

/** A client with one flow leaf `com.sample.AgeFlow` that reads `key`. */
export function readerOf(key: string, members: Partial<Registration> = {}): Registration {
  const roamKeys = [{ direction: 'read', accessMode: 'direct', keyParts: [{ type: 'literal', value: key }] }];
  const leafNodes = parseLeafNodes([{ type: 5, clazz: 'com.sample.AgeFlow', roamKeys }]);
  return { address: key, lane: null, online: true, lastHeartbeat: 1000, leafNodes, ...members };
}
