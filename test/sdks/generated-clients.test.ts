import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { goSdk } from './go.ts';
import { javaSdk } from './java.ts';
import { run } from './run.ts';
import type { Sdk } from './sdk.ts';

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

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies>${[
  ['com.fasterxml.jackson.core', 'jackson-databind', '2.19.2'],
  ['com.fasterxml.jackson.datatype', 'jackson-datatype-jsr310', '2.19.2'],
  ['jakarta.annotation', 'jakarta.annotation-api', '2.1.1'],
]
  .map(
    ([group, artifact, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
  )
  .join('')}</dependencies>
<build><plugins><plugin><groupId>org.openapitools</groupId><artifactId>openapi-generator-maven-plugin</artifactId><version>7.14.0</version>
<executions><execution><goals><goal>generate</goal></goals><configuration><inputSpec>openapi.json</inputSpec><generatorName>java</generatorName>
<library>native</library><generateApiTests>false</generateApiTests><generateModelTests>false</generateModelTests>
<configOptions><useJakartaEe>true</useJakartaEe><openApiNullable>false</openApiNullable></configOptions>
</configuration></execution></executions></plugin></plugins></build></project>`;
/** An answer may have any members, so this generator makes a map of it, whose getters stay empty. */
const JAVA = `import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ExecuteApi;
import org.openapitools.client.model.*;
import java.util.Map;

public class Main {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    String body = "{\\"app\\":42,\\"ruleId\\":9007199254740993,\\"the service\\":{\\"income\\":1}}";
    ExecuteRequest request = client.getObjectMapper().readValue(body, ExecuteRequest.class);
    Result answer = new ExecuteApi(client).execute(request, null, null);
    System.out.println(answer.get("outcome") + " " + ((Map<?, ?>) answer.get("the service")).get("income"));
  }
}
`;

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'generated-'));
});
afterAll(() => service?.stop());

const languages: { name: string; sdk: Sdk; files: Record<string, string>; makes: string[]; runs: string }[] = [
  {
    name: 'Go',
    sdk: goSdk,
    files: { 'config.yaml': CONFIG, 'main.go': PROGRAM, 'go.mod': 'module example.org/generated\n\ngo 1.24\n' },
    makes: [`go run ${GENERATOR} -config config.yaml openapi.json`, 'go mod tidy'],
    runs: 'go run .',
  },
  {
    name: 'Java',
    sdk: javaSdk,
    files: { 'pom.xml': POM, 'src/main/java/Main.java': JAVA },
    makes: ['mvn -B -q compile dependency:copy-dependencies -DoutputDirectory=lib'],
    runs: 'java -cp target/classes:lib/* Main',
  },
];

test.each(languages)(
  'a client that is generated for $name compiles, and runs a rule',
  async ({ name, sdk, files, makes, runs }) => {
    const toolchain = await sdk.findToolchain();
    if (toolchain.kind === 'missing')
      return expect(process.env.RULE_SERVER_REQUIRE_ALL_SUITES, toolchain.reason).not.toBe('1');
    const does = answersWith((request) => resultText(request, { outcome: 'TRUE', 'the service': { income: 1 } }));
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 42, does });
    const cwd = join(folder, name);
    const all = { ...files, 'openapi.json': (await service.call('/openapi.json')).text };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await writeFile(join(cwd, path), text);
    }
    const start = (line: string, ...more: string[]) => {
      const [command = '', ...parameters] = line.split(' ');
      return run(command, [...parameters, ...more], { cwd, timeoutMs: TIMEOUT_MS });
    };
    for (const line of makes) await start(line);
    expect((await start(runs, service.url)).trim()).toBe('TRUE 1');
  },
  TIMEOUT_MS,
);
