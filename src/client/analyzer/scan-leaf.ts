import type { AnyNode } from 'acorn';
import { apply, call, construct, lose } from './calls.ts';
import { evaluateExpression } from './expressions.ts';
import { executeStatement } from './statements.ts';
import {
  type Access,
  anything,
  frameAt,
  type Given,
  given,
  idOf,
  known,
  newWalk,
  type Scan,
  type Scope,
  type Subject,
  unknown,
  use,
  type Value,
} from './values.ts';

const MAX_WALKS = 40;
const MAX_STEPS = 50_000;

/**
 * Every access to the data in a leaf's method, through the functions it hands the data to. The code is walked as if it ran, on every way
 * that a condition may take, and again until a walk finds no new value of anything. `incomplete` says that keys may be missed: the data
 * went where it is not seen, or something is not understood.
 */
export function scanLeaf(subject: Subject, method: string, decides: boolean): Pick<Scan, 'accesses' | 'incomplete'> {
  const scan: Scan = {
    ...{ subject, ...newWalk(), settled: false, leafLost: false, types: new Map(), frames: new Map(), made: new Map() },
    ...{ leafMembers: new Map(), changes: new Set(), evaluate, apply, lose: (values) => lose(values, scan) },
  };
  for (let walks = 0; walks < MAX_WALKS && !(scan.settled && !scan.changed); walks++) {
    scan.settled = walks > 0 && !scan.changed;
    Object.assign(scan, newWalk(), { steps: scan.steps });
    walkLeaf(scan, method, decides);
  }
  const typed = (access: Access) => ({ ...access, type: access.type ?? scan.types.get(access.site) });
  return { accesses: scan.accesses.map(typed), incomplete: scan.incomplete || scan.changed };
}

/** Other methods may run before this one, or while it waits. */
function walkLeaf(scan: Scan, method: string, decides: boolean): void {
  const { leaf, sample } = scan.subject;
  const frame = frameAt('leaf', scan, { code: leaf, home: null, isGenerator: false });
  const data: Value[] = [{ kind: 'data', deep: false }];
  const run = (name: string, code: unknown, values: Given) =>
    scan.apply(known(code), [{ kind: 'leaf' }], values, { scan, frame, key: name });
  for (const [name, code] of functionsOf(sample))
    if (name !== method && name !== 'errorHandle') run(name, code, anything);
  const returned = run(method, Reflect.get(sample, method), given(data));
  if (decides) use(scan, returned, 'Boolean');
  run('errorHandle', Reflect.get(sample, 'errorHandle'), given(data, [unknown]));
  // Nobody seems to call these: they are kept somewhere, and called in a way that is not seen.
  for (const [id, closure] of scan.created) if (!scan.invoked.has(id)) scan.lose([closure]);
}

/** The methods and accessors of a leaf and its ancestors. What a constructor does is in the instance already. */
function functionsOf(sample: object): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (let at: object | null = sample; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const [name, { value, get, set }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      for (const [key, code] of Object.entries({ [name]: value, [`get ${name}`]: get, [`set ${name}`]: set }))
        if (typeof code === 'function' && name !== 'constructor' && !found.has(key)) found.set(key, code);
  return found;
}

function evaluate(node: AnyNode, scope: Scope): Value[] {
  const { scan } = scope;
  if (++scan.steps > MAX_STEPS) {
    scan.incomplete = true;
    return [unknown];
  }
  if (node.type === 'CallExpression') return call(node, scope);
  if (node.type === 'NewExpression') return construct(node, scope);
  if (executeStatement(node, scope)) return [];
  const values = evaluateExpression(node, scope);
  const [first] = values;
  if (first?.kind === 'closure') scan.created.set(idOf(first), first);
  return values;
}
