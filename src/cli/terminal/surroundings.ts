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

/** A command ends here, saying why in one sentence. `code`: that of the problem, where the API refused. */
export class CommandFailed extends Error {
  readonly exitCode: number;
  readonly code: string | null;
  constructor(message: string, exitCode: number, code: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}
