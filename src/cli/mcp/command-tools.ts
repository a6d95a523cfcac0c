import { PassThrough } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { replay } from '../cases/replay.ts';
import { report } from '../cases/report.ts';
import { since } from '../cases/since.ts';
import { test } from '../cases/test.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { answer } from './answer.ts';
import { commandOutput, sinceAnswer } from './answer-schemas.ts';
import { target as anyTarget, app, mockId, READS, ruleId, strictInput, time, where } from './arguments.ts';

const DRY = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

const target = anyTarget.default('all');
const limit = z.int().min(1).max(1000).describe('So many runs at the most, the newest first.').default(100);

/** The options that each command gets. */
type Service = { url: string; key?: string };
type Command = (surroundings: Surroundings) => Promise<number>;

/** Adds the tools that are commands; those that make dry runs on live clients only where the server was started with --allow-run. */
export function addCommandTools(server: McpServer, service: Service, { allowRun }: { allowRun: boolean }): void {
  addSince(server, service);
  if (allowRun) addDryTools(server, service);
}

/** Runs a command without a terminal, and resolves to what it printed. An assistant that cancels its call interrupts the command as Ctrl-C does. */
async function printed(command: Command, signal: AbortSignal): Promise<{ text: string; exitCode: number }> {
  const stdout = new PassThrough();
  const parts: Buffer[] = [];
  stdout.on('data', (part: Buffer) => parts.push(part));
  const onInterrupt = (listener: () => void) => signal.addEventListener('abort', listener, { once: true });
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough().resume() };
  const exitCode = await command({ environment: {}, ...streams, onInterrupt });
  return { text: Buffer.concat(parts).toString(), exitCode };
}

/** The output of a command as `commandOutput`. Its exit code says whether everything was as expected, or unchanged. */
async function outputOf(command: Command, signal: AbortSignal): Promise<string> {
  const { text, exitCode } = await printed(command, signal);
  return joinMembers([
    ['text', JSON.stringify(text)],
    ['exitCode', String(exitCode)],
  ]);
}

function addSince(server: McpServer, service: Service): void {
  server.registerTool(
    'since',
    {
      title: 'Since which version',
      description: 'Since which version of its rule an execution comes to what it came to: computed, not run.',
      inputSchema: strictInput({ mockId }),
      outputSchema: sinceAnswer,
      annotations: READS,
    },
    ({ mockId }, { mcpReq: { signal } }) =>
      answer(async () => {
        const options = { ...service, json: true };
        return (await printed((around) => since(mockId, options, around), signal)).text;
      }),
  );
}

function addDryTools(server: McpServer, service: Service): void {
  const dry = <Given>(
    name: string,
    about: { title: string; description: string; inputSchema: z.ZodObject & z.ZodType<Given> },
    commandFor: (given: Given) => Command,
  ) =>
    server.registerTool(
      name,
      { ...about, outputSchema: commandOutput, annotations: DRY },
      (given, { mcpReq: { signal } }) => answer(() => outputOf(commandFor(given), signal)),
    );
  dry(
    'replay',
    {
      title: 'Replay recorded runs',
      description:
        'Runs the inputs of recorded runs again, without effects, and tells how many came to the same, how many changed and how. Exit code 0: all the same; 1: some changed; 4: some could not be checked or have no answer.',
      inputSchema: strictInput({ app, ruleId: ruleId.unwrap(), target, where, from: time, to: time, limit }),
    },
    ({ app, limit, where, from, to, ...asked }) => {
      const search = { ...(where && { where }), ...(from && { from }), ...(to && { to }) };
      return (around) => replay({ ...service, ...asked, ...search, app: String(app), limit: String(limit) }, around);
    },
  );
  dry(
    'test',
    {
      title: 'Test the saved cases',
      description:
        'Runs the saved cases of a rule without effects, and tells what is not as expected. Exit code 0: all passed; 1: some failed; 4: some could not be checked or have no answer.',
      inputSchema: strictInput({ app, ruleId: ruleId.unwrap(), target }),
    },
    ({ app, ruleId, target }) =>
      (around) =>
        test([], { ...service, app: String(app), ruleId, target: [target], saved: true, dryRun: true }, around),
  );
  dry(
    'report',
    {
      title: 'Report before a release',
      description:
        'What a release would change: the recorded runs of each rule, made again without effects, how its saved cases last ran, and whether it can ship; as Markdown.',
      inputSchema: strictInput({ app, ruleId, target, from: time, to: time, limit }),
    },
    ({ app, ruleId, target, limit, from, to }) => {
      const search = { ...(ruleId && { ruleId }), ...(from && { from }), ...(to && { to }), limit: String(limit) };
      return (around) => report({ ...service, app: String(app), target, ...search }, around);
    },
  );
}
