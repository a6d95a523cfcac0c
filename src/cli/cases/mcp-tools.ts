import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { answer } from '../mcp/answer.ts';
import { commandOutput, sinceAnswer } from '../mcp/answers.ts';
import { target as anyTarget, app, mockId, READS, ruleId, strictInput, time, where } from '../mcp/arguments.ts';
import { type Command, outputOf, printed, type Service } from '../mcp/command-tools.ts';
import { replay } from './replay.ts';
import { report } from './report.ts';
import { since } from './since.ts';
import { test } from './test.ts';

const DRY = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

const target = anyTarget.default('all');
const limit = z.int().min(1).max(1000).describe('So many runs at the most, the newest first.').default(100);

type Asked = { url: string; key?: string };

/** Adds the tools that are commands; those that make dry runs on live clients only where the server was started with --allow-run. */
export function addCommandTools(server: McpServer, { url, key, allowRun }: Service & { allowRun: boolean }): void {
  const service = { url, ...(key && { key }) };
  addSince(server, service);
  if (allowRun) addDryTools(server, service);
}

function addSince(server: McpServer, service: Asked): void {
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

function addDryTools(server: McpServer, service: Asked): void {
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
