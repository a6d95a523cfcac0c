import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const CHART = join(import.meta.dirname, '../../deploy/helm/rule-server');

/** What helm says; rejects with what it refuses. */
export async function helm(parameters: string[]): Promise<string> {
  return (await run('helm', parameters)).stdout;
}

export function hasHelm(): boolean {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
