import { copyFile, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayThat } from '../support/gateway.ts';
import { losesAnAnswer } from '../support/loses-an-answer.ts';
import { answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { run } from './run.ts';

const root = join(import.meta.dirname, '../..');
const callers = join(root, 'examples/callers');
const TIMEOUT_MS = 300_000;
const commands: Record<string, string[]> = {
  node: [process.execPath, 'call.mjs'],
  python: ['python3', 'call.py'],
  go: ['go', 'run', 'call.go'],
  java: ['java', '-cp', 'lib/*', 'Call.java'],
};
/** What each needs beside its language. */
const prepare: Record<string, () => Promise<unknown>> = {
  node: async () => {
    const client = join(folder, 'node_modules/rule-server-client');
    await mkdir(client, { recursive: true });
    await symlink(join(root, 'src'), join(client, 'src'));
    await writeFile(join(client, 'package.json'), '{"exports":{"./http":"./src/client/http.ts"}}');
  },
  python: () => there('python3', '-m', 'pip', 'install', '-q', '--target', folder, 'urllib3>=2'),
  java: async () => {
    await writeFile(join(folder, 'pom.xml'), POM);
    await there('mvn', '-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib');
  },
};
const asks: Record<string, string> = { node: '--version', python: '--version', go: 'version', java: '-version' };
const POM = `<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>
<dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>2.19.2</version></dependency>
</dependencies></project>`;

const isMissing = async (name: string) => {
  const [command = ''] = commands[name] ?? [];
  const isThere = await run(command, [asks[name] ?? ''], { timeoutMs: TIMEOUT_MS }).catch(() => null);
  if (isThere === null) expect(process.env.RULE_SERVER_REQUIRE_ALL_SUITES, `${command} is missing`).not.toBe('1');
  return isThere === null;
};

const there = (command: string, ...parameters: string[]) =>
  run(command, parameters, { cwd: folder, timeoutMs: TIMEOUT_MS });

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'callers-'));
  for (const name of ['call.mjs', 'call.py', 'call.go', 'Call.java'])
    await copyFile(join(callers, name), join(folder, name));
});
afterAll(() => service?.stop());

test.each(Object.keys(commands))(
  'the example for %s is exact, sends a call again under its key, and tells whether it ran',
  async (name) => {
    const [command = '', ...parameters] = commands[name] ?? [];
    if (await isMissing(name)) return;
    await prepare[name]?.();
    const does = answersWith((request) =>
      resultText(request, { outcome: 'TRUE' }).replace(
        /"the service":\{.*?\}/s,
        /"the service":\{.*?\}/s.exec(request.text)?.[0] ?? '',
      ),
    );
    const app = 60 + Object.keys(commands).indexOf(name);
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does });
    await using gateway = await losesAnAnswer(service.url);
    const call = (ofApp: number) => there(command, ...parameters, gateway.url, String(ofApp));
    expect((await call(app)).trim()).toBe('TRUE 9007199254740993');
    expect([gateway.calls(), client.found.length]).toEqual([2, 1]);
    await expect(call(0)).rejects.toThrow(/mayHaveRun: false/i);
  },
  TIMEOUT_MS,
);

// That of Node leaves it to the client, which has tests of its own.
test.concurrent.each(['python', 'go', 'java'])(
  'the example for %s says that a call may have run where its first attempt was refused and the others got no answer',
  async (name) => {
    const [command = '', ...parameters] = commands[name] ?? [];
    if (await isMissing(name)) return;
    let calls = 0;
    await using gateway = await gatewayThat((_, outgoing) => {
      if (++calls > 1) return outgoing.destroy();
      return outgoing
        .writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1', connection: 'close' })
        .end(
          '{"success":false,"error":"Full.","code":"overloaded","reason":"bodies-full","params":{},"mayHaveRun":false}',
        );
    });
    await expect(there(command, ...parameters, gateway.url, '1')).rejects.toThrow(/mayHaveRun: true/i);
    expect(calls).toBeGreaterThan(1);
  },
  TIMEOUT_MS,
);
