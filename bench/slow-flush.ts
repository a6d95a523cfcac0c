// Loaded before the service (`node --import`): each flush of a file takes SLOW_FLUSH_MS longer, as on a slow disk.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const slowMs = Number(process.env.SLOW_FLUSH_MS ?? 5);
const flush = fs.fdatasync;
const slow = (handle: number, done: fs.NoParamCallback) =>
  flush(handle, (error) => setTimeout(() => done(error), slowMs));
fs.fdatasync = Object.assign(slow, { __promisify__: flush.__promisify__ });
syncBuiltinESMExports();
