import type { Readable, Writable } from 'node:stream';

/** The parts of its process that a command uses. */
export type Surroundings = {
  environment: Record<string, string | undefined>;
  stdin: Readable;
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  /** Aborts when nobody reads the standard output any more. */
  readerLeft?: AbortSignal;
  /** Calls back when the person presses Ctrl-C. */
  onInterrupt(listener: () => void): void;
};

/** A command ends here, saying why in one sentence. */
export class CommandFailed extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
