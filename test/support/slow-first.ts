import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files wait longest, for deadlines of whole processes: they begin first, so that none is left for the end alone. */
const SLOW = ['/test/journeys/', '/test/cli/', '/test/client/client.test.ts'];

/** Begins files in the order of SLOW, and those of one folder by what they took last time, else by size. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = SLOW.findIndex((part) => moduleId.includes(part));
      return found === -1 ? SLOW.length : found;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
