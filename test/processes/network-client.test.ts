import { describe, it } from 'vitest';
import { followRules } from '../support/follow-rules.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';

const mounts: [string, string[]][] = [
  ['as it is mounted by default', []],
  ['with dir_cache=no', ['dir_cache=no']],
];

describe.skipIf(!canMountNetwork)('the Node client and its rule files over sshfs (needs root and sshfs)', () => {
  describe.each(mounts)('%s', (_, options) => {
    it('the client over it, requests and rules put beside the files: it notices both, and is never without its rule', async () => {
      await using network = await mountNetwork(options);
      await followRules({ client: network.path, server: network.behind });
    });

    it('the client beside the files, requests and rules put over it: it notices both, and is never without its rule', async () => {
      await using network = await mountNetwork(options);
      await followRules({ client: network.behind, server: network.path });
    });
  });
});
