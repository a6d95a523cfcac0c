import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const BIN = join(import.meta.dirname, '../../bin/rule-server.js');

/** An assistant connected to `rule-server mcp`; `parameters` follow the address on the command line. */
export async function startAssistant(url: string, ...parameters: string[]) {
  const client = new Client({ name: 'a test', version: '1' });
  const args = [BIN, 'mcp', '--url', url, ...parameters];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
