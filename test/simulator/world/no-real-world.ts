import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const TIMERS = ['setTimeout', 'setInterval'] as const;
const FILES = [
  'lstat',
  'stat',
  'access',
  'open',
  'readdir',
  'readFile',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'statfs',
  'symlink',
  'unlink',
  'writeFile',
  'mkdir',
  'opendir',
  'chmod',
] as const;

/** What runs without the real world, and everything that follows from it. Other tests of this process may still be ending. */
const sealed = new AsyncLocalStorage<true>();

/**
 * While the task runs, what reaches the real world fails: a real timer, a real file, a real connection. Whatever a simulated process does
 * must go through its ports; else a run would not come to the same a second time.
 */
export async function withoutRealWorld<T>(task: () => Promise<T>): Promise<T> {
  const restores: (() => void)[] = [];
  let reached: string | undefined;
  const refuse = (owner: object, name: string) => {
    const real = Object.getOwnPropertyDescriptor(owner, name);
    if (!real) return;
    Object.defineProperty(owner, name, {
      configurable: true,
      value(this: unknown, ...given: unknown[]) {
        if (!sealed.getStore()) return Reflect.apply(real.value ?? real.get?.call(owner), this, given);
        reached ??= new Error(`the simulated world reached for the real ${name}`).stack;
        throw new Error(`a simulated process reached for the real ${name}`);
      },
    });
    restores.push(() => void Object.defineProperty(owner, name, real));
  };
  for (const name of TIMERS) refuse(globalThis, name);
  for (const name of FILES) {
    refuse(fs.promises, name);
    refuse(fs, `${name}Sync`);
  }
  refuse(net, 'connect');
  syncBuiltinESMExports();
  try {
    const result = await sealed.run(true, task);
    if (reached !== undefined) throw new Error(reached);
    return result;
  } finally {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  }
}
