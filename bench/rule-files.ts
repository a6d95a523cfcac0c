import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const RULES = 200;
export const NODES_EACH = 50;
const CLASSES = 40;

/** 200 rules of 50 nodes in 20 folders: a root, nine relations of four leaves each, four more leaves. */
export async function writeRules(sharedDir: string, app: number): Promise<void> {
  const write = (path: string, value: object) => writeFile(join(sharedDir, String(app), path), JSON.stringify(value));
  for (let folder = 0; folder < 20; folder++) {
    await mkdir(join(sharedDir, String(app), 'bases', `folder-${folder}`), { recursive: true });
  }
  await mkdir(join(sharedDir, String(app), 'confs'), { recursive: true });
  for (let rule = 1; rule <= RULES; rule++) {
    const root = rule * 1000;
    await write(`bases/folder-${rule % 20}/${rule}.json`, { id: rule, confId: root, status: 1 });
    for (let node = 0; node < NODES_EACH; node++) {
      const id = root + node;
      await write(`confs/${id}.json`, { id, name: `node ${id}`, ...shapeOf(node, root) });
    }
  }
}

function shapeOf(node: number, root: number) {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => root + from + at).join(',');
  if (node === 0) return { type: 1, sonIds: `${ids(1, 10)},${ids(46, 50)}` };
  if (node < 10) return { type: 4, sonIds: ids(6 + node * 4, 10 + node * 4) };
  const confField = JSON.stringify({ key: `input_${(root + node) % 97}`, limit: 5 });
  return { type: 5, confName: `com.sample.Leaf${node % CLASSES}`, confField };
}

/** What a client publishes about the leaf classes of these rules. */
export function publishedLeaves(): object[] {
  const keyParts = [{ type: 'field', ref: 'key' }];
  return Array.from({ length: CLASSES }, (_, at) => ({
    type: 5,
    clazz: `com.sample.Leaf${at}`,
    iceFields: [{ field: 'key', type: 'string' }],
    roamKeys: [{ direction: 'read', accessMode: 'direct', accessMethod: 'get', keyParts }],
  }));
}
