import { expect, inject, it, vi } from 'vitest';
import { copyProgram } from '../support/program-copy.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder, put } from '../support/responder.ts';
import { startWorkerProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');

/** A dialect of clients that do not exist: they shout. */
const shouting = `
import type { Dialect } from './dialect.ts';
import { ruleDialect } from './rule.ts';

export const shoutDialect: Dialect = {
  ...ruleDialect,
  recognises: ({ dialect }) => dialect === 'shout',
  directoryNameOf: (address) => address.toUpperCase(),
  requestMembers: ({ mockId, input }) => [['MOCK_ID', JSON.stringify(mockId)], ['INPUT', input]],
  dataField: 'OUTPUT',
  reservedKey: 'HUSH',
};
`;

const theList = {
  'shared/contract/client-kinds.ts': [
    ["['rule', 'ice']", "['rule', 'ice', 'shout']"],
    ["['node', 'java', 'go', 'python', 'unknown']", "['node', 'java', 'go', 'python', 'megaphone', 'unknown']"],
  ],
} as const;
const theFolder = {
  'worker/files/dialects/dialects.ts': [
    ['import { ruleDialect }', "import { shoutDialect } from './shout.ts';\nimport { ruleDialect }"],
    ['ice: iceDialect }', 'ice: iceDialect, shout: shoutDialect }'],
  ],
  'worker/files/dialects/sdks.ts': [
    [
      '  unknown: {',
      "  megaphone: { dialect: 'shout', wrote: () => true, givesUp: true, roundsAs: 'Megaphone' },\n  unknown: {",
    ],
  ],
} as const;

it.skipIf(choice.kind === 'unavailable')(
  'a dialect and an SDK are added in the folder of the dialects and in one list of names',
  async () => {
    await using program = await copyProgram(
      { ...theList, ...theFolder },
      { 'worker/files/dialects/shout.ts': shouting },
    );
    const redis = await startRedis(choice);
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, workers: 0 });
      const { api, sharedDir } = processes;
      await using _worker = await startWorkerProcess({ root: program.root, queueUrl: redis.url, sharedDir });
      await using client = await createResponder({
        sharedDir,
        app: 1,
        address: 'LOUD',
        async does(request) {
          await request.pickUp();
          await request.answer(`{"success":true,"OUTPUT":${JSON.stringify(JSON.parse(request.text))}}`);
        },
      });
      await put(client.registrationPath, JSON.stringify({ address: 'Loud', app: 1, dialect: 'shout' }));
      const { status, json } = await api.execute({ app: 1, ruleId: 1, 'the service': { n: 1 } });
      expect([status, json.error, json['the service']]).toEqual([200, null, { MOCK_ID: json.mockId, INPUT: { n: 1 } }]);

      const refused = await api.execute({ app: 1, ruleId: 1, 'the service': { HUSH: true } });
      expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('"HUSH" at its top level')]);
    } finally {
      await redis.stop();
    }
  },
);
