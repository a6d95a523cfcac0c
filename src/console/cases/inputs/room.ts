/** The bytes kept of a run besides its input: a record, and an answer that has the input again, with a trace. */
const RECORD_CHARACTERS = 2500;
const INPUT_TIMES = 2.5;

/** About how many runs of this size the service has room for. */
export function runsThatFit(
  bytes: number,
  { runs, inputCharacters }: { runs: number; inputCharacters: number },
): number {
  const each = RECORD_CHARACTERS + (INPUT_TIMES * inputCharacters) / runs;
  return Math.floor(bytes / each);
}
