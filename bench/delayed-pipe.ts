// `delayed-pipe.ts MS PROGRAM …`: runs a program, and hands what goes into it and comes out of it on so many ms later.
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

const [delayMs = '0', program = '', ...parameters] = process.argv.slice(2);
const child = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
passOn(process.stdin, child.stdin);
passOn(child.stdout, process.stdout);
child.on('exit', () => process.exit());

function passOn(from: Readable, to: Writable): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), Number(delayMs) / 2));
  from.on('end', () => setTimeout(() => to.end(), Number(delayMs) / 2));
}
