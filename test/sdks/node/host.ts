// A small application that embeds the Node SDK, which can run without effects: `node test/sdks/node/host.ts <address>`.
// SHARED_DIR, APP and HEARTBEAT_SECONDS are those of the other hosts. It goes by the address that it is given.
import { appendFile } from 'node:fs/promises';
import { createRuleClient } from '../../../src/client/client.ts';

class NoteResult {
  file = '';
  async doResult(): Promise<boolean> {
    await appendFile(this.file, 'called\n');
    return true;
  }
}

const { SHARED_DIR = '', APP, HEARTBEAT_SECONDS } = process.env;
const [, , address = ''] = process.argv;
const client = await createRuleClient({
  app: Number(APP),
  sharedDir: SHARED_DIR,
  address,
  heartbeatMs: Number(HEARTBEAT_SECONDS) * 1000,
  leaves: { 'com.sample.NoteResult': NoteResult },
});
process.once('SIGTERM', () => void client.close());
