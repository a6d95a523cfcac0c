import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, parse } from 'acorn';
import type { Source } from './unused-exports.ts';

/**
 * Part of `npm run lint`: the code that the simulator runs (test/simulator) reaches files, time and chance through the ports alone, and
 * keeps nothing in its modules: each process has its own state (`perProcess`).
 */
const SIMULATED = [
  'src/worker/',
  'src/api/calls/',
  'src/api/idempotency/',
  ...['ask-worker', 'open-calls', 'queue-health', 'executions/follow-execution'].map((name) => `src/api/${name}.ts`),
  ...['async', 'telemetry/logger', 'upkeep'].map((name) => `src/shared/runtime/${name}.ts`),
  ...['backlog', 'follow-jobs'].map((name) => `src/shared/queue/${name}.ts`),
];
const PORTS = 'src/worker/files/ports/';

const PAST = new Map([
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'performance'].map(
    (name) => [name, 'time'] as const,
  ),
  ['fetch', 'nothing: these folders speak to no server'],
  ['new Date', 'time.now'],
]);
const PAST_MEMBERS = new Map([
  ['Date.now', 'time.now'],
  ['Math.random', 'random.fraction'],
  ['AbortSignal.timeout', 'time.abortAfter'],
  ['process.hrtime', 'time.monotonic'],
  ['crypto.randomUUID', 'random.uuid'],
  ...[...PAST].map(([name, instead]) => [`globalThis.${name}`, instead] as const),
]);
const PAST_PACKAGES = new Map([
  ['node:fs/promises', '*'],
  ['node:timers/promises', '*'],
  ['node:timers', '*'],
  ['chokidar', '*'],
  ['node:crypto', 'randomUUID randomBytes randomInt'],
]);
/** What makes something that changes. One with an argument, as `new Set([…])`, is a table. */
const CHANGES = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'LRUCache', 'WeakRef']);

/** One sentence for each place that goes past a port, or keeps something that changes in a module. */
export function pastPorts(sources: readonly Source[]): string[] {
  const simulated = sources.filter(
    ({ path }) => SIMULATED.some((part) => path.startsWith(part)) && !path.startsWith(PORTS),
  );
  return simulated.flatMap(({ path, text }) => {
    const program = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
    const at = (node: AnyNode) => `${path}:${node.loc?.start.line ?? 0}`;
    return [...wentPast(program, at), ...program.body.flatMap((node) => kept(node, at))];
  });
}

type At = (node: AnyNode) => string;

function wentPast(node: AnyNode, at: At): string[] {
  const found = reasonOf(node);
  const own = found === undefined ? [] : [`${at(node)} ${found}`];
  return [...own, ...partsOf(node).flatMap((part) => wentPast(part, at))];
}

function reasonOf(node: AnyNode): string | undefined {
  if (node.type === 'ImportDeclaration') return reasonOfImport(node);
  if (node.type === 'CallExpression') {
    // Called, or handed to somebody who calls it.
    const names = [node.callee, ...node.arguments].flatMap((part) => (part.type === 'Identifier' ? [part.name] : []));
    return names.map(reasonOfName).find((reason) => reason !== undefined);
  }
  if (node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'Date')
    return node.arguments.length === 0 ? reasonOfName('new Date') : undefined;
  if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier' || node.property.type !== 'Identifier')
    return;
  const name = `${node.object.name}.${node.property.name}`;
  const instead = PAST_MEMBERS.get(name);
  return instead === undefined ? reasonOfName(node.object.name) : `uses ${name}: use ${instead} of src/shared/ports.`;
}

function reasonOfName(name: string): string | undefined {
  const instead = PAST.get(name);
  return instead === undefined ? undefined : `uses ${name} past the ports (src/shared/ports): use ${instead}.`;
}

function reasonOfImport({ source, specifiers }: Extract<AnyNode, { type: 'ImportDeclaration' }>): string | undefined {
  const module = String(source.value);
  const names = specifiers.map((one) =>
    one.type === 'ImportSpecifier' && 'name' in one.imported ? one.imported.name : '*',
  );
  const refused = module === 'node:fs' && names.some((name) => name !== 'constants') ? '*' : PAST_PACKAGES.get(module);
  if (refused === undefined || (refused !== '*' && !names.some((name) => name === '*' || refused.includes(name))))
    return undefined;
  return `imports ${module} past the ports: use src/worker/files/ports or src/shared/ports.`;
}

/** Something that changes, kept by a module instead of a process. */
function kept(node: AnyNode, at: At): string[] {
  const declared = node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node;
  if (declared.type !== 'VariableDeclaration') return [];
  const changes = declared.declarations.some(({ init }) => init && makesWhatChanges(init));
  if (declared.kind === 'const' && !changes) return [];
  return [`${at(declared)} keeps something that changes in a module: let each process have its own (perProcess).`];
}

function makesWhatChanges(init: AnyNode): boolean {
  if (init.type === 'ArrayExpression') return init.elements.length === 0;
  if (init.type === 'ObjectExpression') return init.properties.length === 0;
  if (init.type === 'NewExpression' && init.callee.type === 'Identifier')
    return CHANGES.has(init.callee.name) && init.arguments.length === 0;
  return (
    init.type === 'CallExpression' && init.callee.type === 'Identifier' && /^(create|cached)/.test(init.callee.name)
  );
}

function partsOf(node: AnyNode): AnyNode[] {
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
