import { execFile } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';

export interface RunOptions {
  timeoutMs: number;
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs a command to its end and returns stdout and stderr; throws with the command's own complaint, or on the deadline. */
export async function run(file: string, args: string[], options: RunOptions): Promise<string> {
  const { timeoutMs, cwd, env } = options;
  try {
    const { stdout, stderr } = await promisify(execFile)(file, args, {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    return stdout + stderr;
  } catch (error) {
    throw new Error(`${file} ${args[0] ?? ''}: ${whatItSaid(error, timeoutMs)}`, { cause: error });
  }
}

function whatItSaid(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if ('killed' in error && error.killed === true) return `stopped after ${timeoutMs} ms`;
  const said = 'stderr' in error && 'stdout' in error ? complaint(`${error.stderr}\n${error.stdout}`) : undefined;
  return said ?? error.message;
}

/** The first line that reads like an error: package managers print the cause first and advice after it. */
function complaint(output: string): string | undefined {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.replace(/^\[?ERROR[\]:]?\s*/, 'ERROR ').trim())
    .filter((line) => line !== '' && line !== 'ERROR' && !line.startsWith('go: downloading'));
  return (lines.find((line) => /error|^go: /i.test(line)) ?? lines[0])?.replace(/^ERROR /, '');
}
