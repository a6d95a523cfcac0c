// A service whose rule, or which itself, leaves errors behind. `argv[2]` and the following: which, one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuleClient, loadRules } from '../../../src/client/client.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

const [, , ...all] = process.argv;
let what = '';
const lost = async () => {
  throw new Error('lost');
};

class Stray {
  doFlow(): boolean {
    if (what === 'rejects') void lost();
    if (what === 'rejects-in-handler') throw new Error('caught');
    if (what === 'rejects-later') void sleep(10).then(lost);
    if (what.endsWith('throws-in-timer'))
      setTimeout(() => {
        throw new Error('lost');
      }, 5);
    return true;
  }
  errorHandle(): 'TRUE' {
    void lost();
    return 'TRUE';
  }
}
class Quiet {
  doFlow(): boolean {
    return true;
  }
}

const files = await createRuleFiles();
await files.rule(1, '"confId":1');
await files.node(1, '"type":1,"sonIds":"2,3,4"');
await files.node(2, '"type":5,"confName":"Quiet"');
await files.node(3, '"type":5,"confName":"shop.Stray"');
await files.node(4, '"type":5,"confName":"Quiet"');
const leaves = { 'shop.Stray': Stray, Quiet };
const onError = (error: unknown) => console.log(`${what}: ${error instanceof Error ? error.message : error}`);
try {
  for (what of all) {
    const client = await createRuleClient({ app: 7, sharedDir: files.sharedDir, leaves, onError });
    if (what === 'loaded-throws-in-timer') {
      await client.close();
      await (await loadRules(`${files.sharedDir}/7`, { leaves, onError })).run({ ruleId: 1 });
    } else await client.run({ ruleId: 1 });
    if (what === 'service-rejects') void Promise.reject(new Error('of the service'));
    if (what === 'service-throws')
      setTimeout(() => {
        throw new Error('of the service');
      });
    await sleep(200);
    console.log(`${what}: went on`);
    await client.close();
  }
} finally {
  await files.remove();
}
