import { PassThrough } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { get, type HttpApi } from '../terminal/http-api.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { answer } from './answer.ts';
import { readinessAnswer } from './answers.ts';
import { app, READS, ruleId, strictInput, target } from './arguments.ts';

export type Command = (surroundings: Surroundings) => Promise<number>;

/** Runs a command without a terminal, and resolves to what it printed. An assistant that cancels its call interrupts the command as Ctrl-C does. */
export async function printed(command: Command, signal: AbortSignal): Promise<{ text: string; exitCode: number }> {
  const stdout = new PassThrough();
  const parts: Buffer[] = [];
  stdout.on('data', (part: Buffer) => parts.push(part));
  const onInterrupt = (listener: () => void) => signal.addEventListener('abort', listener, { once: true });
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough().resume() };
  const exitCode = await command({ environment: {}, ...streams, onInterrupt });
  return { text: Buffer.concat(parts).toString(), exitCode };
}

/** The output of a command as `commandOutput`. Its exit code says whether everything was as expected, or unchanged. */
export async function outputOf(command: Command, signal: AbortSignal): Promise<string> {
  const { text, exitCode } = await printed(command, signal);
  return joinMembers([
    ['text', JSON.stringify(text)],
    ['exitCode', String(exitCode)],
  ]);
}

export type Service = { url: string; key?: string | undefined };

/** A tool for the command `check`, which runs nothing. */
export function addCheck(server: McpServer, api: HttpApi): void {
  server.registerTool(
    'check',
    {
      title: 'Check before a release',
      description:
        'Whether the rules of an app can be released to a target, by their trees and the last run of their cases.',
      inputSchema: strictInput({ app, ruleId, target: target.default('all') }),
      outputSchema: readinessAnswer,
      annotations: READS,
    },
    (asked) => answer(() => get(api, 'readiness', asked)),
  );
}
