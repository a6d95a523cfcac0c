import { symlink } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPublishedMetadata } from '../../../src/worker/clients/published-metadata.ts';
import { registrationText } from '../../support/registrations.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const client = { lane: null, online: true, lastHeartbeat: 5, leafNodes: [{ clazz: 'a.B', type: 5 }] };

test('the last registration of a lane and of the trunk is known, offline, after its client is gone', async () => {
  await files.write(await registrationText('java'), 'clients', 7, '_latest.json');
  await files.write(await registrationText('python'), 'clients', 7, 'lane', 'beta', '_latest.json');
  const { metadataFor } = createPublishedMetadata({ sharedDir: files.sharedDir, listClients: async () => [] });
  const [trunk, lane] = await metadataFor(7);
  expect(trunk).toMatchObject({ address: '172.17.0.1_ad8lC', lane: null, online: false, lastHeartbeat: 1795151915257 });
  expect(lane).toMatchObject({ address: 'vm_gFdPY', lane: 'beta', online: false });
  expect(trunk?.leafNodes.find(({ clazz }) => clazz === 'com.sample.AgeFlow')).toMatchObject({ type: 5, keys: [{}] });
  expect(await metadataFor(8)).toEqual([]);
});

test('a client that is listed is not listed again as the last one', async () => {
  await files.write('{"address":"here","leafNodes":[]}', 'clients', 7, '_latest.json');
  const listClients = async () => [{ ...client, address: 'here' }];
  const { metadataFor } = createPublishedMetadata({ sharedDir: files.sharedDir, listClients });
  expect(await metadataFor(7)).toMatchObject([
    { address: 'here', online: true, leafNodes: [{ clazz: 'a.B', keys: [] }] },
  ]);
});

test('leaf nodes that did not change are not parsed again', async () => {
  const listClients = async () => [{ ...client, address: 'here' }];
  const { metadataFor } = createPublishedMetadata({ sharedDir: files.sharedDir, listClients });
  const [first] = await metadataFor(7);
  const [second] = await metadataFor(7);
  expect(second?.leafNodes).toBe(first?.leafNodes);
});

test('a last registration that is cut off, foreign or a link is nobody', async () => {
  await files.write('{"address":"x","leafNodes":[', 'clients', 7, '_latest.json');
  await files.write('[]', 'clients', 7, 'lane', 'a', '_latest.json');
  await files.write('{"address":"outside"}', 'outside', '_latest.json');
  await symlink(files.pathOf('outside'), files.pathOf('clients/7/lane/b'));
  await symlink(files.pathOf('outside'), files.pathOf('clients/8'));
  const { metadataFor } = createPublishedMetadata({ sharedDir: files.sharedDir, listClients: async () => [] });
  expect(await metadataFor(7)).toEqual([]);
  expect(await metadataFor(8)).toEqual([]);
});

test('the classes a client published are known, and none published means nobody knows', () => {
  const { leafClassesOf } = createPublishedMetadata({ sharedDir: files.sharedDir, listClients: async () => [] });
  expect(leafClassesOf([{ clazz: 'a.B' }, { clazz: 'a.C', type: 5 }, null])).toEqual(new Set(['a.B', 'a.C']));
  expect(leafClassesOf([])).toBeNull();
});
