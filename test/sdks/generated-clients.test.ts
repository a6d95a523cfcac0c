import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { goSdk } from './go.ts';
import { run } from './run.ts';

const TIMEOUT_MS = 600_000;
const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
/** A schema is called Client, as is the client itself unless it is told otherwise. */
const CONFIG = `package: main
generate: { models: true, client: true }
output: client.go
output-options: { client-type-name: Api }
`;
const PROGRAM = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
)

func main() {
	client, err := NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var body ExecuteJSONRequestBody
	if err := json.Unmarshal([]byte(\`{"app":42,"ruleId":9007199254740993,"the service":{"income":1}}\`), &body); err != nil {
		log.Fatal(err)
	}
	answer, err := client.ExecuteWithResponse(context.Background(), nil, body)
	if err != nil || answer.JSON200 == nil {
		log.Fatal(err, answer)
	}
	fmt.Println(*answer.JSON200.Outcome, answer.JSON200.TheService["income"])
}
`;

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'generated-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test(
  'a client that is generated for Go compiles, and runs a rule',
  async () => {
    const toolchain = await goSdk.findToolchain();
    if (toolchain.kind === 'missing')
      return expect(process.env.RULE_SERVER_REQUIRE_ALL_SUITES, toolchain.reason).not.toBe('1');
    const does = answersWith((request) => resultText(request, { outcome: 'TRUE', 'the service': { income: 1 } }));
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 42, does });
    const files = { 'config.yaml': CONFIG, 'main.go': PROGRAM, 'go.mod': 'module example.org/generated\n\ngo 1.24\n' };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await writeFile(join(folder, 'openapi.json'), (await service.call('/openapi.json')).text);
    const go = (...parameters: string[]) => run('go', parameters, { cwd: folder, timeoutMs: TIMEOUT_MS });
    await go('run', GENERATOR, '-config', 'config.yaml', 'openapi.json');
    await go('mod', 'tidy');
    expect((await go('run', '.', service.url)).trim()).toBe('TRUE 1');
  },
  TIMEOUT_MS,
);
