import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files wait most of their time, for deadlines of whole processes; the others keep a processor busy. */
const WAITING = [
  '/test/journeys/',
  '/test/cli/',
  '/test/api/http/',
  '/test/api/openapi/',
  '/test/client/client.test.ts',
];

/**
 * Begins files that wait and files that work in turn, so that the processors have work at any time, and of each kind those first that took
 * longest the last time, else the largest.
 */
export class WaitingBesideWorking extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = ({ moduleId }: TestSpecification) => WAITING.some((part) => moduleId.includes(part));
    const [waiting, working] = [sorted.filter(waits), sorted.filter((file) => !waits(file))];
    // The last to begin are some that work: at the end nothing is left beside which one could wait.
    const places = [waiting, working].flatMap((kind) =>
      kind.map((file, n) => ({ file, at: ((n + 0.5) / kind.length) * (kind === waiting ? 0.85 : 1) })),
    );
    return places.toSorted((one, other) => one.at - other.at).map(({ file }) => file);
  }
}
