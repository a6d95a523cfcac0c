/** What the files below one path may import: files below other paths, and packages unless they are refused. */
export type Part = {
  path: string;
  mayImport: string[];
  refusedPackages?: string[];
  because: string;
};

const CONTRACT = 'src/shared/contract/';
const REASONS = 'src/shared/reasons/';
/** Why a rule came out as it did: page and commands tell it in the same words. */
const REASONING = ['src/shared/json-tree/', 'src/shared/reasoning/', 'src/shared/conclusions/'];
/** A browser can load them: the page reads paths, CSV and cases by the rules of the service. */
const PURE_PARTS_OF_CASES = [
  'path.ts',
  'csv/cell-type.ts',
  'csv/csv-cases.ts',
  'document/read-case.ts',
  'document/refusal.ts',
  'judging/decimal.ts',
].map((name) => `src/shared/cases/${name}`);

/** The directions of ARCHITECTURE.md. The first part whose path fits decides. */
export const importMap: Part[] = [
  {
    path: 'src/shared/',
    mayImport: ['src/shared/'],
    because: 'src/shared is what every other folder reads: it imports none of them.',
  },
  {
    path: 'src/api/console-files.ts',
    mayImport: ['src/api/', 'src/shared/'],
    because: 'This is the one module of the API that reads files: those of the console.',
  },
  {
    path: 'src/api/',
    mayImport: ['src/api/', 'src/shared/', 'src/version.ts'],
    refusedPackages: ['node:fs', 'chokidar'],
    because: 'The API never touches a file: it asks the worker over the queue.',
  },
  {
    path: 'src/worker/',
    mayImport: ['src/worker/', 'src/shared/'],
    refusedPackages: ['hono', '@hono'],
    because: 'The worker speaks the queue and files. HTTP belongs to src/api.',
  },
  {
    path: 'src/client/',
    mayImport: ['src/client/', CONTRACT, REASONS, 'src/shared/rules/', 'src/shared/runtime/errno.ts'],
    refusedPackages: ['hono', '@hono', 'bullmq', 'ioredis'],
    because: 'The client is an SDK: of the service it knows the contract and the files of rules.',
  },
  {
    path: 'src/console/',
    mayImport: ['src/console/', CONTRACT, REASONS, ...REASONING, ...PURE_PARTS_OF_CASES],
    refusedPackages: ['node:'],
    because: 'The console runs in a browser: of the service it knows the contract and the public HTTP interface.',
  },
  {
    path: 'src/cli/cases/in-process.ts',
    mayImport: ['src/cli/', 'src/shared/', 'src/client/requests/answer-in-process.ts'],
    because: 'Cases that run in the command itself run as in a client: it uses one door of the SDK.',
  },
  {
    path: 'src/cli/',
    mayImport: ['src/cli/', 'src/shared/', 'src/version.ts'],
    because: 'The command line calls the service over HTTP: it runs no part of it.',
  },
];

/**
 * The folders of each part, lowest first: a folder imports itself and those before it, so folders never import each other
 * in a circle. The files that lie directly in a part wire its folders and are not ordered; lint/circles.ts refuses circles of files.
 */
export const layers: Record<string, string[]> = {
  'src/shared/': [
    'reasons',
    'contract',
    'json-tree',
    'cases',
    'reasoning',
    'privacy',
    'conclusions',
    'ports',
    'runtime',
    'rules',
    'store',
    'queue',
    'reports',
  ],
  'src/api/': [
    'overload',
    'calls',
    'executions',
    'idempotency',
    'http',
    'access',
    'cases',
    'batches',
    'readiness',
    'ice',
    'openapi',
    'docs',
    'routes',
  ],
  'src/worker/': [
    'files',
    'rules',
    'clients',
    'placement',
    'execution',
    'batches',
    'cases',
    'queries',
    'upkeep',
    'process',
  ],
  'src/client/': ['engine', 'code', 'leaves', 'rules', 'analyzer', 'runs', 'requests', 'demo'],
  'src/console/': ['styles', 'json', 'trace', 'api', 'state', 'text', 'run', 'cases', 'ui', 'screen'],
  'src/cli/': ['terminal', 'operating', 'runs', 'doctor', 'cases', 'mcp', 'commands'],
};
