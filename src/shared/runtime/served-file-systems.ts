/**
 * File systems that something else serves, another machine or a process, by their number (statfs(2)): what others change there
 * causes no events here, and any operation may take long.
 */
export const servedFileSystems: ReadonlyMap<number, string> = new Map([
  [0x65735546, 'FUSE'], // sshfs, GlusterFS, s3fs
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x19830326, 'BeeGFS'],
  [0x47504653, 'GPFS'],
]);
