import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../shared/runtime/errno.ts';
import { replaceFile } from '../replace-file.ts';
import { demoNodes, demoRules } from './rules.ts';

/** Releases the demo's rules, unless the app has rules already: somebody may have changed them. */
export async function writeDemoRules(sharedDir: string, app: number): Promise<void> {
  const directory = join(sharedDir, String(app));
  const rules = await readdir(join(directory, 'bases')).catch(unless('ENOENT'));
  if (rules && rules.length > 0) return;
  const now = Date.now();
  const common = { app, status: 1, createAt: now, updateAt: now };
  for (const folder of ['confs', 'bases', 'versions']) await mkdir(join(directory, folder), { recursive: true });
  for (const [id, { confField, ...node }] of Object.entries(demoNodes)) {
    const values = confField === undefined ? {} : { confField: JSON.stringify(confField) };
    const members = { id: Number(id), timeType: 1, inverse: false, ...common, ...node, ...values };
    await replaceFile(join(directory, 'confs', `${id}.json`), JSON.stringify(members));
  }
  // Rules after the nodes they name, the version last: whoever follows along never finds a rule without its nodes.
  for (const [id, rule] of Object.entries(demoRules)) {
    const members = { id: Number(id), timeType: 1, debug: 0, ...common, ...rule };
    await replaceFile(join(directory, 'bases', `${id}.json`), JSON.stringify(members));
  }
  await replaceFile(join(directory, 'version.txt'), '1');
}
