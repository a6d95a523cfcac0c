import { expect, test } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { fileSystemOf, noteFileSystem } from '../../../src/worker/files/file-system.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';

const onDisk = '/ - ext4';

test.each([
  ['a local disk', [onDisk], true],
  ['a volume of its own', [onDisk, '/real - xfs'], true],
  ['a mount beside it', [onDisk, '/real2 - nfs4', '/other - fuse.sshfs'], true],
  ['a network file system', [onDisk, '/real - nfs4'], false],
  ['a network file system above it', ['/ - nfs4'], false],
  ['a network file system over a disk at one path', [onDisk, '/real - xfs', '/real - cifs'], false],
  ['a network file system below it', [onDisk, '/real/mock/1/client - fuse.sshfs'], false],
  ['another disk below it', [onDisk, '/real/mock - ext4'], false],
  ['a path with a space', [onDisk, '/real/mock/1/a\\040client - nfs4'], false],
  ['a file system that nobody knows', [onDisk, '/real - newfs'], false],
  ['no list of mounts', [], false],
])('the main thread does operations on files only where all of them are local: %s', async (_, mounts, isLocal) => {
  const mountList = () =>
    mounts.map((mount) => `36 35 0:44 / ${mount.replace(' - ', ' rw shared:1 - ')} source rw\n`).join('');
  const own = createProcess(filesOf.as({ ...nodeFiles, mountList, realpath: async () => '/real' }));
  await own.run(async () => {
    expect(fileSystemOf('/shared/mock').isLocal).toBe(false); // it is not known yet
    await noteFileSystem('/shared');
    expect(fileSystemOf('/shared/mock/1').isLocal).toBe(isLocal);
  });
});

test('a mount that comes later counts', async () => {
  const mounts = ['36 35 0:44 / / rw - ext4 disk rw'];
  const own = createProcess(
    filesOf.as({ ...nodeFiles, mountList: () => mounts.join('\n'), realpath: async () => '/real' }),
  );
  await own.run(async () => {
    await noteFileSystem('/shared');
    expect(fileSystemOf('/shared').isLocal).toBe(true);
    mounts.push('37 36 0:45 / /real/mock/1 rw - fuse.sshfs server rw');
    await expect.poll(() => fileSystemOf('/shared')).toMatchObject({ isLocal: false, hasHandles: false });
  });
});
