import { RawNumber } from '../shared/exact-json.ts';
import { createRuleClient, type Data, type RuleClient } from './client.ts';

export const DEMO_APP = 9001;
const THRESHOLD = 100;

/** A client to try the service with: app 9001, rule 1 gives a coupon to who spends 100 or more. */
export function startDemoClient({
  sharedDir,
  onError,
}: {
  sharedDir: string;
  onError: (error: unknown) => void;
}): Promise<RuleClient> {
  return createRuleClient({
    app: DEMO_APP,
    sharedDir,
    onError,
    async run({ ruleId, data }) {
      if (ruleId !== '1') throw new Error(`the demo client has one rule, 1; it knows nothing of ${ruleId}`);
      return runCampaign(data);
    },
  });
}

function runCampaign(data: Data): { data: Data; process: string } {
  const { cost } = data;
  const spentEnough = cost instanceof RawNumber && Number(cost.text) >= THRESHOLD;
  if (!spentEnough) return { data, process: '[2:SpendThreshold:F:0][1:And:F:0]' };
  const coupon = { amount: new RawNumber('20'), reason: `spent at least ${THRESHOLD}` };
  return { data: { ...data, coupon }, process: '[2:SpendThreshold:T:0][3:GiveCoupon:T:0][1:And:T:0]' };
}
