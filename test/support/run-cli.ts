import { PassThrough, Readable } from 'node:stream';
import { runCommand } from '../../src/cli/program.ts';

export type Ran = { code: number; out: string; err: string };
/** `onInterrupt`: is given the listener of Ctrl-C. `onText`: is told what is written, as it is written. */
export type How = {
  environment?: NodeJS.ProcessEnv;
  stdin?: string | Buffer;
  tty?: boolean;
  onInterrupt?: (listener: () => void) => void;
  onText?: (stream: 'out' | 'err', text: string) => unknown;
};

/** Somebody presses Ctrl-C once this happened. */
export const interruptedAfter = (event: Promise<unknown>): How => ({
  onInterrupt: (listener) => void event.then(listener),
});

/** Runs a command of the command line in this process, without a terminal; what it wrote, and its exit code. */
export const runCli = (...line: string[]) => runCliWith({}, ...line);

export async function runCliWith(how: How, ...line: string[]): Promise<Ran> {
  const { environment = {}, stdin = '', tty = false, onInterrupt = () => {}, onText = () => {} } = how;
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: tty })];
  const told = { out: '', err: '' };
  const listen = (stream: PassThrough, name: 'out' | 'err') =>
    stream.setEncoding('utf8').on('data', (text: string) => {
      told[name] += text;
      onText(name, text);
    });
  listen(stdout, 'out');
  listen(stderr, 'err');
  const code = await runCommand(line, { environment, stdin: Readable.from([stdin]), stdout, stderr, onInterrupt });
  await new Promise((resolve) => setImmediate(resolve)); // what was written last is read
  return { code, ...told };
}
