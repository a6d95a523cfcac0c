const SERVICES = new Set(['api', 'worker', 'all', 'demo-client']);

/**
 * The one door. A command that names a service starts it, and a signal stops it (`serve.ts`); every other command runs to its end
 * (`cli/command-line.ts`). Only these two read the environment and signals.
 */
export async function main(parameters: string[]): Promise<void> {
  const [given = '', ...more] = parameters;
  const command = given === 'start' ? 'all' : given;
  // Each loads only what it needs: a command line that answers a person starts at once.
  if (SERVICES.has(command) && more.length === 0) return (await import('./serve.ts')).serve(command);
  await (await import('./cli/command-line.ts')).main(parameters, { services: true });
}
