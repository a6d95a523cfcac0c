import { describe, expect, it } from 'vitest';
import { createDisk, type Disk, type DiskOptions } from './world/disk.ts';
import { type Asked, type Gate, openGate } from './world/gate.ts';
import { createSimulatedFiles, type Noticed } from './world/simulated-files.ts';

const PROCESS = 'worker';
const newDisk = (options: Partial<DiskOptions> = {}) => createDisk({ now: () => 1, ...options });

/** Passes everything on, and notes what was asked. */
function notingGate(disk: Disk): { gate: Gate<Disk>; asked: Asked[] } {
  const asked: Asked[] = [];
  const open = openGate(disk);
  const gate: Gate<Disk> = (what, act) => {
    asked.push(what);
    return open(what, act);
  };
  return { asked, gate };
}

describe('a simulated disk', () => {
  it('has copies that go their own ways', () => {
    const disk = newDisk();
    const calls = disk.as(PROCESS);
    calls.mkdir('/d');
    calls.writeFile('/d/f', 'one');
    const handle = calls.open('/d/f', 'a');
    const copy = disk.copy();
    expect(copy.state({ times: true })).toEqual(disk.state({ times: true }));

    calls.write(handle, ' and two');
    calls.chmod('/d', 0o700);
    calls.unlink('/d/f');
    const old = copy.as(PROCESS);
    expect(old.readFile('/d/f')).toBe('one');
    expect(old.stat('/d').mode & 0o777).toBe(0o755);
    old.write(handle, ' and three');
    expect(old.readFile('/d/f')).toBe('one and three');
    expect(calls.fstat(handle).size).toBe('one and two'.length);
  });

  it('shows an old copy through a handle that is newer', () => {
    const disk = newDisk();
    const calls = disk.as(PROCESS);
    calls.mkdir('/d');
    const old = disk.copy();
    calls.writeFile('/d/f', '');
    const handle = calls.openDirectory('/d', { noFollow: true });
    old.takeHandlesOf(disk);
    expect(calls.readdir(`/proc/self/fd/${handle}`)).toEqual(['f']);
    expect(old.as(PROCESS).readdir(`/proc/self/fd/${handle}`)).toEqual([]);
  });

  it('gives the number of a removed file to the next one, unless that is still open', () => {
    const calls = newDisk().as(PROCESS);
    const never = newDisk({ inodes: 'never again' }).as(PROCESS);
    const inoOf = (own: typeof calls) => {
      own.writeFile('/f', '');
      const { ino } = own.stat('/f');
      own.unlink('/f');
      return ino;
    };
    expect(inoOf(calls)).toBe(inoOf(calls));
    expect(inoOf(never)).not.toBe(inoOf(never));
    calls.writeFile('/open', '');
    const handle = calls.open('/open');
    calls.unlink('/open');
    expect(inoOf(calls)).not.toBe(calls.fstat(handle).ino);
  });

  it('closes what an ended process had open', () => {
    const disk = newDisk();
    const calls = disk.as(PROCESS);
    calls.mkdir('/d');
    calls.openDirectory('/d', { noFollow: true });
    calls.rmdir('/d');
    const told: string[] = [];
    calls.watch('/', (name) => told.push(name));
    disk.endProcess(PROCESS);
    disk.as('another').mkdir('/e');
    expect(told).toEqual([]);
    expect(disk.state()).toEqual(['/: directory 755', '/e: directory 755']);
  });

  it('keeps the handles of processes apart', () => {
    const disk = newDisk();
    const [one, other] = [disk.as('one'), disk.as('other')];
    one.mkdir('/d');
    const handle = one.openDirectory('/d', { noFollow: true });
    expect(() => other.fstat(handle)).toThrow('EBADF');
    expect(() => other.stat(`/proc/self/fd/${handle}/.`)).toThrow('ENOENT');
  });

  it('says where a path leads', () => {
    const calls = newDisk().as(PROCESS);
    calls.mkdir('/d');
    calls.symlink('d', '/l');
    const handle = calls.openDirectory('/d', { noFollow: true });
    calls.rename('/d', '/e');
    const paths = [`/proc/self/fd/${handle}/f`, `/proc/self/fd/${handle}/.`, '/l', '/gone/f', '/'];
    expect(paths.map((path) => calls.locate(path))).toEqual(['/e/f', '/e', '/l', '/gone/f', '/']);
    calls.rmdir('/e');
    expect(calls.locate(`/proc/self/fd/${handle}/f`)).toMatch(/^\(removed \d+\)\/f$/);
  });
});

describe('simulated files', () => {
  it('ask once for each system call between which others may act', async () => {
    const { gate, asked } = notingGate(newDisk());
    const files = createSimulatedFiles({ process: PROCESS, gate });
    const steps = async (act: () => Promise<unknown>) => {
      await act();
      return asked.splice(0).map(({ name, on, writes }) => `${name} ${on}${writes ? ' !' : ''}`.trim());
    };
    expect(await steps(() => files.mkdir('/d'))).toEqual(['mkdir /d !']);
    expect(await steps(() => files.writeFile('/d/f', 'text'))).toEqual(['open /d/f !', 'write /d/f !', 'close']);
    expect(await steps(() => files.writeFile('/d/e', ''))).toEqual(['open /d/e !', 'close']);
    expect(await steps(() => files.rename('/d/e', '/d/g'))).toEqual(['rename /d/e,/d/g !']);
    expect(await steps(() => files.readFile('/d/f'))).toEqual(['readFile /d/f']);
    expect(await steps(() => files.atOnce.symlink('f', '/d/l'))).toEqual(['symlink /d/l !']);
    expect((await steps(() => files.rm('/d', { recursive: true }))).toSorted()).toEqual(
      ['rm /d !', 'readdir /d', 'rm /d/f !', 'rm /d/g !', 'rm /d/l !', 'rmdir /d !'].toSorted(),
    );
  });

  it('do not reach another file through a handle that was closed', async () => {
    const files = createSimulatedFiles({ process: PROCESS, gate: openGate(newDisk()) });
    const file = await files.open('/f', 'w');
    await file.close();
    const other = await files.open('/g', 'w');
    await expect(file.write('text')).rejects.toThrow('EBADF');
    await file.close();
    await other.write('text');
    expect(await files.readFile('/g')).toBe('text');
  });

  it('go on removing where another process removes, too', async () => {
    const disk = newDisk();
    const other = disk.as('other');
    const open = openGate(disk);
    const gate: Gate<Disk> = (asked, act) => {
      if (asked.name === 'rm' && asked.on[0] === '/d/f') {
        other.unlink('/d/f');
        other.rmdir('/d');
      }
      return open(asked, act);
    };
    other.mkdir('/d');
    other.writeFile('/d/f', '');
    await createSimulatedFiles({ process: PROCESS, gate }).rm('/d', { recursive: true });
    expect(other.exists('/d')).toBe(false);
  });

  it('leave it to the scheduler when a watcher is told', async () => {
    const disk = newDisk();
    const noticed: [Noticed, () => void][] = [];
    const told: string[] = [];
    const files = createSimulatedFiles({
      process: PROCESS,
      gate: openGate(disk),
      onWatch: (what, deliver) => noticed.push([what, deliver]),
    });
    const other = disk.as('client');
    other.mkdir('/d');
    const watching = files.watch('/d', { armed: () => {}, event: (name) => told.push(name), error: () => {} });
    other.writeFile('/d/f', '');
    expect(noticed.map(([what]) => what)).toEqual([{ process: PROCESS, directory: '/d', name: 'f' }]);
    expect(told).toEqual([]);
    for (const [, deliver] of noticed) deliver();
    for (const [, deliver] of noticed) deliver();
    expect(told).toEqual(['f', 'f']);

    other.unlink('/d/f');
    other.rmdir('/d');
    other.mkdir('/d');
    noticed.length = 0;
    other.writeFile('/d/g', '');
    expect(noticed).toEqual([]); // it is another directory
    await watching.close();
  });

  it('tell no watcher that was closed, and none of what is not there', async () => {
    const disk = newDisk();
    const files = createSimulatedFiles({ process: PROCESS, gate: openGate(disk) });
    const told: unknown[] = [];
    const note = {
      armed: () => told.push('armed'),
      event: (name: string) => told.push(name),
      error: () => told.push('error'),
    };
    files.watch('/missing', note);
    await files.watch('/', note).close();
    await files.mkdir('/missing');
    await files.mkdir('/missing/d');
    expect(told).toEqual([]);
  });
});
