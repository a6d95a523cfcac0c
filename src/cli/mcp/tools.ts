import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { codeSchema } from '../../shared/contract/endings/codes.ts';
import { stateSchema } from '../../shared/contract/endings/states.ts';
import { get, type HttpApi } from '../terminal/http-api.ts';
import { answer } from './answer.ts';
import {
  explanationAnswer,
  inputsAnswer,
  readinessAnswer,
  rulesAnswer,
  runAnswer,
  runsAnswer,
} from './answer-schemas.ts';
import { app, confId, mockId, READS, ruleId, strictInput, target, time, where } from './arguments.ts';
import { explanation, findRuns, listRules, runRule } from './calls.ts';

const RUNS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** The tools. Each is one or two calls of the HTTP interface, and hands its answers on as they are. */
export function addTools(server: McpServer, api: HttpApi, { allowRun }: { allowRun: boolean }): void {
  server.registerTool(
    'list_rules',
    {
      title: 'List rules',
      description: 'The apps, or with `app` the rules of that app and its clients.',
      inputSchema: strictInput({ app: app.optional() }),
      outputSchema: rulesAnswer,
      annotations: READS,
    },
    ({ app }) => answer(() => (app === undefined ? get(api, 'apps', {}) : listRules(api, app))),
  );
  server.registerTool(
    'describe_inputs',
    {
      title: 'Describe the inputs of a rule',
      description:
        'The keys that a rule reads from its input, with their types and all nodes that read them, with their settings.',
      inputSchema: strictInput({ app, ruleId, confId }),
      outputSchema: inputsAnswer,
      annotations: READS,
    },
    (selection) => answer(() => get(api, 'schema', { ...selection, include: 'settings' })),
  );
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
  if (allowRun) addRun(server, api);
  addFind(server, api);
  server.registerTool(
    'explain_run',
    {
      title: 'Explain a run',
      description:
        'Why an execution came out as it did: the deciding path, a sentence for each reason, and the smallest change of the input with which the result would be TRUE, or FALSE where it was TRUE (computed, not run); then its input, answer and trace, and the tree of its rule as it ran, with the settings of each node.',
      inputSchema: strictInput({ mockId }),
      outputSchema: explanationAnswer,
      annotations: READS,
    },
    ({ mockId }) => answer(() => explanation(api, mockId)),
  );
}

function addFind(server: McpServer, api: HttpApi): void {
  server.registerTool(
    'find_runs',
    {
      title: 'Find runs',
      description:
        'Executions in short, with their inputs, the newest first: all, or those that a search finds; explain_run tells one whole. `searched` says how far a search came; with `nextCursor` of an answer as `cursor` it goes on.',
      inputSchema: strictInput({
        app: app.optional(),
        ruleId,
        where,
        text: z.string().describe('Words of the input, the id, the client, the key, the code or the error.').optional(),
        outcome: z.enum(['TRUE', 'FALSE', 'NONE', 'no-result']).optional(),
        state: stateSchema.optional(),
        code: codeSchema.describe('Why it ended without an answer.').optional(),
        from: time,
        to: time,
        address: z.string().describe('The client it went to.').optional(),
        lane: z.string().describe('The lane of that client.').optional(),
        by: z.string().describe('The key or person that asked for it.').optional(),
        comparisonId: z.string().describe('The comparison it is a part of.').optional(),
        pinned: z.boolean().describe('Only those that somebody pinned.').optional(),
        cursor: z.string().optional(),
        limit: z.int().min(1).max(100).describe('So many at the most.').default(10),
      }),
      outputSchema: runsAnswer,
      annotations: READS,
    },
    ({ pinned, ...words }) => answer(() => findRuns(api, { ...words, ...(pinned && { pinned: 'true' }) })),
  );
}

/** Only where the server was started with --allow-run. */
function addRun(server: McpServer, api: HttpApi): void {
  server.registerTool(
    'run_rule',
    {
      title: 'Run a rule',
      description: 'Runs a rule once on a live client: a real run with real effects, unless dryRun is true.',
      inputSchema: strictInput({
        app,
        ruleId,
        confId,
        input: z.string().describe('The input: a JSON object as text, so that every number stays exact.').default('{}'),
        target: target.optional(),
        dryRun: z
          .boolean()
          .describe('Without effects: a leaf that has some is not called, and counts as TRUE. Only some clients can.')
          .optional(),
      }),
      outputSchema: runAnswer,
      annotations: RUNS,
    },
    (run, { mcpReq }) => answer(() => runRule(api, run, mcpReq.signal)),
  );
}
