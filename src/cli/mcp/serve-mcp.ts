import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { version } from '../../version.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi } from '../terminal/http-api.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { addCommandTools } from './command-tools.ts';
import { addTools } from './tools.ts';

type McpOptions = { url: string; key?: string; allowRun?: boolean };

const INSTRUCTIONS = `Business rules that run on live clients. To tell why a rule said no: find the execution with find_runs, by its input,
its outcome or its time; then explain_run with its mockId gives input, answer, trace and the tree of the rule as it ran. Numbers
are exact: repeat them digit by digit.`;

/**
 * Serves the Model Context Protocol on standard input and output: an assistant lists rules, describes their inputs and
 * explains runs, and with --allow-run runs rules, with the caller's key and its permissions. Ends with its input, or Ctrl-C.
 */
export async function serveMcp(
  { url, key, allowRun = false }: McpOptions,
  { stdin, stdout, onInterrupt }: Surroundings,
): Promise<number> {
  const server = new McpServer({ name: 'rule-server', version }, { instructions: INSTRUCTIONS });
  addTools(server, createHttpApi({ url, key }), { allowRun });
  addCommandTools(server, { url, ...(key && { key }) }, { allowRun });
  const transport = new StdioServerTransport(stdin, stdout);
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    stdin.once('end', resolve);
    onInterrupt(resolve);
  });
  await server.connect(transport);
  await closed;
  await server.close();
  return exitCodes.ok;
}
