import { mkdir, writeFile } from 'node:fs/promises';

/** Releases rule 1 of an app: 500 nodes, a root over 50 groups of 9 leaves. Gives back the trace of a run in which all were TRUE. */
export async function writeLargeRule(sharedDir: string, app: number): Promise<string> {
  await mkdir(`${sharedDir}/${app}/bases`, { recursive: true });
  await mkdir(`${sharedDir}/${app}/confs`, { recursive: true });
  const groups = Array.from({ length: 50 }, (_, index) => index + 2);
  const leavesOf = (group: number) => Array.from({ length: 9 }, (_, index) => 100 + group * 10 + index);
  const put = (id: number, members: object) =>
    writeFile(`${sharedDir}/${app}/confs/${id}.json`, JSON.stringify({ id, app, status: 1, ...members }));
  await put(1, { type: 3, name: 'everything', sonIds: groups.join(',') });
  for (const group of groups) {
    await put(group, { type: 1, name: `group ${group}`, sonIds: leavesOf(group).join(',') });
    for (const id of leavesOf(group)) await put(id, { type: 5, name: `check ${id}`, confName: 'com.sample.Check' });
  }
  await writeFile(
    `${sharedDir}/${app}/bases/1.json`,
    JSON.stringify({ id: 1, app, name: 'large', confId: 1, status: 1 }),
  );
  const traceOf = (group: number) =>
    `${leavesOf(group)
      .map((id) => `[${id}:Check:T:0]`)
      .join('')}[${group}:And:T:1]`;
  return `${groups.map(traceOf).join('')}[1:All:T:9]`;
}
