import { setTimeout as sleep } from 'node:timers/promises';
import type { Data } from '../../../src/client/engine/data/data.ts';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';

class Yes {
  doFlow(): boolean {
    return true;
  }
}
class No {
  doFlow(): boolean {
    return false;
  }
}
class Silent {
  doNone(): void {}
}
class Boom {
  text = 'kaboom';
  doFlow(): boolean {
    throw new Error(this.text);
  }
}
/** Answers later. */
class Later {
  ms = 5;
  says = true;
  async doFlow(service: Data): Promise<boolean> {
    await sleep(this.ms);
    service.put('later', this.ms);
    return this.says;
  }
}
class LaterBoom {
  async doFlow(): Promise<boolean> {
    await sleep(1);
    throw new Error('later kaboom');
  }
}
class Never {
  doFlow(): Promise<boolean> {
    return new Promise(() => {});
  }
}

export const smallLeaves: Leaves = { Yes, No, Silent, Boom, Later, LaterBoom, Never };

/** Files of the leaves, by the letter their state has in a process text. */
export const leafFile = {
  T: { type: 5, confName: 'Yes' },
  F: { type: 5, confName: 'No' },
  N: { type: 7, confName: 'Silent' },
  E: { type: 5, confName: 'Boom' },
};
