import { Argument } from 'commander';
import { exitCodesHelp } from '../terminal/exit-codes.ts';
import type { Describing } from './describing.ts';

const MCP_HELP = `
Example, as an assistant's configuration:
  { "command": "npx", "args": ["--no-install", "rule-server", "mcp", "--url", "https://rules.example.com"],
    "env": { "RULE_SERVER_KEY": "…" } }

Tools: list_rules, describe_inputs, find_runs, explain_run, check and since; with --allow-run also run_rule, and replay, test and report, which
have no effects. They can do what the key may do, nothing more. It ends with its standard input.
${exitCodesHelp([0, 2], { 0: 'its standard input has ended' })}`;

const COMPLETION_HELP = `
Example:
  rule-server completion bash > /etc/bash_completion.d/rule-server
${exitCodesHelp([0, 2])}`;

/** The commands that connect other programs. */
export function describeConnecting({ program, surroundings, command, withUrl }: Describing): void {
  const mcp = command('mcp', async () => (await import('../mcp/serve-mcp.ts')).serveMcp)
    .description('serve the Model Context Protocol on standard input and output, for an assistant')
    .option('--allow-run', 'let the assistant run rules: real runs with real effects');
  withUrl(mcp).addHelpText('after', MCP_HELP);
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash']))
    .addHelpText('after', COMPLETION_HELP)
    .action(async () => void surroundings.stdout.write((await import('../completion.ts')).bashCompletion(program)));
}
