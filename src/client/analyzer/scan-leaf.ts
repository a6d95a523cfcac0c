import type { AnyNode } from 'acorn';
import { apply, call, construct, lose } from './calls.ts';
import { evaluateExpression, executeStatement } from './evaluate.ts';
import {
  type Access,
  known,
  listAt,
  newWalk,
  notUnderstood,
  type Scan,
  type Scope,
  type Subject,
  unknown,
  unlessTooMany,
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
    ...{ subject, ...newWalk(), walks: 0, steps: 0, types: new Map(), scopes: new Map() },
    ...{ made: new Map(), changes: new Set(), evaluate, apply },
    lose: (values) => lose(values, scan),
  };
  do {
    Object.assign(scan, newWalk());
    walkLeaf(scan, method, decides);
  } while (scan.changed && ++scan.walks < MAX_WALKS);
  const typed = (access: Access) => ({ ...access, type: access.type ?? scan.types.get(access.site) });
  return { accesses: scan.accesses.map(typed), incomplete: scan.incomplete || scan.changed };
}

/** Other methods may run before this one, or while it waits. */
function walkLeaf(scan: Scan, method: string, decides: boolean): void {
  const { leaf, sample } = scan.subject;
  const data: Value[] = [{ kind: 'data', deep: false, method: null }];
  const run = (name: string, code: unknown, places: Value[][], others: Value[] = []) => {
    const site = { scan, key: name, code: leaf };
    return scan.apply(known(code), [known(sample)], listAt(site, places, others), site);
  };
  for (const [name, code] of functionsOf(sample))
    if (name !== method && name !== 'errorHandle') run(name, code, [], [unknown]);
  const returned = run(method, Reflect.get(sample, method), [data]);
  if (decides) use(scan, returned, 'Boolean');
  run('errorHandle', Reflect.get(sample, 'errorHandle'), [data, [unknown]]);
  // An accessor among the private members, which are not seen, may change the others.
  for (let at: unknown = leaf; typeof at === 'function'; at = Object.getPrototypeOf(at))
    if (/\b[gs]et\s*#/.test(Function.prototype.toString.call(at))) scan.incomplete = true;
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
  if (++scan.steps > MAX_STEPS) return notUnderstood(scan);
  if (node.type === 'CallExpression') return unlessTooMany(call(node, scope), scan);
  if (node.type === 'NewExpression') return construct(node, scope);
  return executeStatement(node, scope) ? [] : unlessTooMany(evaluateExpression(node, scope), scan);
}
