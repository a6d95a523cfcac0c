const SERVICES = new Set(['api', 'worker', 'all', 'demo-client']);

/**
 * The one door: the only reader of the environment, of signals, and of how the process ends. Starts what the command
 * names and stops it on SIGTERM or SIGINT; every other command runs to its end.
 */
export async function main(parameters: string[]): Promise<void> {
  const [given = '', ...more] = parameters;
  const command = given === 'start' ? 'all' : given;
  // Each loads only what it needs: a command line that answers a person starts at once.
  if (SERVICES.has(command) && more.length === 0) return (await import('./serve.ts')).serve(command);
  await (await import('./cli/command-line.ts')).main(parameters, { services: true });
}
