// The file operations that a call cannot do without, by nobody but us: tells how often a second, so many of them at a time. A process
// of its own, because libuv is given its threads at a start.
import { lstat, mkdir, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [sharedDir = '', atATime = '1', seconds = '1'] = process.argv.slice(2);
process.send?.(await operationsAlone(Number(atATime), Number(seconds)));
process.disconnect?.();

async function operationsAlone(atATime: number, seconds: number): Promise<number> {
  const folders = { client: join(sharedDir, 'a'), claims: join(sharedDir, 'b'), answers: join(sharedDir, 'c') };
  for (const folder of Object.values(folders)) await mkdir(folder);
  let done = 0;
  const until = performance.now() + seconds * 1000;
  const onAndOn = async (_: unknown, which: number) => {
    for (let call = 0; performance.now() < until; call++) {
      await one(folders, `${which}-${call}`);
      done++;
    }
  };
  await Promise.all(Array.from({ length: atATime }, onAndOn));
  return done / seconds;
}

/** Write, claim, dispatch, look and read, remove, keep. The request stands for the answer, which nobody writes here. */
async function one(folders: Record<'client' | 'claims' | 'answers', string>, id: string): Promise<void> {
  const temporary = join(folders.client, `.${id}.tmp`);
  const request = join(folders.client, `${id}.json`);
  await writeFile(temporary, 'x'.repeat(125), { flag: 'wx' });
  await symlink('x'.repeat(250), join(folders.claims, id));
  await lstat(`${folders.claims}.swept`).catch(() => {});
  await rename(temporary, request);
  await lstat(join(folders.client, `${id}_result.json`)).catch(() => {});
  await readFile(request, 'utf8');
  await unlink(join(folders.client, `${id}.gone`)).catch(() => {});
  await rename(request, join(folders.answers, id));
}
