import { createRuleClient } from 'PACKAGE';

class SpentAtLeast {
  min = 100;
  doFlow(service) {
    return service.double('cost', 0) >= this.min;
  }
}

const sharedDir = process.env.SHARED_DIR ?? '.';
const leaves = { 'shop.SpentAtLeast': { leaf: SpentAtLeast, fields: { min: { name: 'Amount' } } } };
const client = await createRuleClient({ app: 1, sharedDir, leaves, strict: true });
const { outcome, data } = await client.run({ ruleId: 1, data: { uid: 9007199254740993n, cost: 120 } });
console.log(outcome, data.uid);
await client.close();
