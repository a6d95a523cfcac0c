import { prepareProcess } from '../shared/runtime/prepare-process.ts';
import { givenIn } from '../shared/runtime/settings/settings.ts';
import { runCommand } from './program.ts';

/** Runs one command in this process, with its environment, streams and signals, and sets its exit code. `services`: it can start them. */
export async function main(parameters: string[], { services = false } = {}): Promise<void> {
  const readerLeft = prepareProcess();
  const { stdin, stdout, stderr } = process;
  const environment = givenIn(process.env);
  const onInterrupt = (listener: () => void) => void process.once('SIGINT', listener);
  const surroundings = { environment, stdin, stdout, stderr, readerLeft, onInterrupt };
  process.exitCode = await runCommand(parameters, surroundings, { services });
}
