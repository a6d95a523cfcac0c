import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { oldBackup } from './old-backup.ts';
import { runPlan } from './search/random.ts';
import { keepFailing, replay } from './search/seeds.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

const HOUR_MS = 3_600_000;
const PROGRAM = join(import.meta.dirname, 'simulate.ts');
/** Worlds that broke a promise once, made short by the code that broke it: `simulate` keeps such a file in `simulator-failures`. */
const KEPT = join(import.meta.dirname, 'kept');

const kept = (await readdir(KEPT)).filter((name) => name.endsWith('.json'));

describe('a world that once broke a promise keeps it now', () => {
  test.each(kept)('%s', async (name) => {
    const path = join(KEPT, name);
    const { broken }: { broken: string } = JSON.parse(await readFile(path, 'utf8'));
    const { plan, result } = await replay(path);
    expect(plan.calls.length + (plan.batches ?? []).length).toBeGreaterThan(0);
    expect(result.broken, `it broke once: ${broken}`).toBeUndefined();
    expect(result.endings.size).toBeGreaterThan(0);
  });
});

describe('a world that is replayed from its file', () => {
  test.each([
    ['breaks its promise: the program ends with 1, and says which', 25, 1, /^broken: a rule runs at most once: /],
    ['keeps it: the program ends with 0', 22, 0, /^broken: undefined$/m],
  ])('%s', async (_, hours, status, says) => {
    const plan = oldBackup(hours * HOUR_MS, { 'worker 1': -26 * HOUR_MS });
    const result = await withoutRealWorld(() => runPlan(plan, { twists: new Map() }));
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = await keepFailing(folder, { plan, twists: result.twists, result });
    expect((await replay(path)).result.hash()).toBe(result.hash());
    const { output, code } = await replayed(path);
    expect(output).toMatch(says);
    expect(code).toBe(status);
  });
});

async function replayed(path: string): Promise<{ output: string; code: number | null }> {
  const program = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, '--replay', path]);
  const ended = new Promise<number | null>((resolve) => program.on('close', resolve));
  const [output, code] = await Promise.all([text(program.stdout), ended]);
  return { output, code };
}
