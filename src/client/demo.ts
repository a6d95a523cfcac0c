import { createRuleClient, type RuleClient } from './client.ts';
import { betaLeaves, demoLeaves, nextLeaves } from './demo/leaves.ts';
import { writeDemoRules } from './demo/write-rules.ts';

export const DEMO_APP = 9001;

type Options = { sharedDir: string; onError: (error: unknown) => void };

/**
 * A service to try the rule server with: app 9001 with five rules, run by a client on the trunk and one in each of the lanes
 * `beta` and `next`. Rule 1 gives a coupon to who spends 100 or more. What it gives back is the client on the trunk.
 */
export async function startDemoClient({ sharedDir, onError }: Options): Promise<RuleClient> {
  await writeDemoRules(sharedDir, DEMO_APP);
  const common = { app: DEMO_APP, sharedDir, onError };
  const clients = await Promise.all([
    createRuleClient({ ...common, leaves: demoLeaves }),
    createRuleClient({ ...common, leaves: betaLeaves, lane: 'beta' }),
    createRuleClient({ ...common, leaves: nextLeaves, lane: 'next' }),
  ]);
  const [trunk] = clients;
  return {
    ...trunk,
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
