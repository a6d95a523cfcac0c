// COUNT clients on the Node SDK in one process, with the rules of the demo and the settings as they are. Tells their addresses.
import { createRuleClient } from '../src/client/client.ts';
import { demoLeaves } from '../src/client/demo/leaves.ts';
import { DEMO_APP } from '../src/client/demo.ts';

const [sharedDir = '', count = '1'] = process.argv.slice(2);
const options = { app: DEMO_APP, sharedDir, leaves: demoLeaves, onError: (error: unknown) => console.error(error) };
const clients = await Promise.all(Array.from({ length: Number(count) }, () => createRuleClient(options)));
process.on('SIGTERM', async () => {
  await Promise.all(clients.map((client) => client.close()));
  process.exit();
});
process.send?.(clients.map(({ address }) => address));
