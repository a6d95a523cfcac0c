// Takes rules of json-rules-engine over, as docs/use/recipes.md says; a test runs it beside that engine.
import { type Data, leavesFor, loadRules } from 'rule-server-client';

type Condition = {
  all?: Condition[];
  any?: Condition[];
  not?: Condition;
  fact?: string;
  path?: string;
  operator?: string;
  value?: unknown;
};
export type EngineRule = { conditions: Condition; event: { type: string; params?: object }; priority?: number };

// As json-rules-engine has it: what reads as a number is one, and JavaScript compares.
// biome-ignore lint/suspicious/noExplicitAny: JavaScript compares whatever is there
type Any = any;
const isNumber = (fact: Any) => !Number.isNaN(Number.parseFloat(fact));
const has = (list: Any, value: Any) =>
  (Array.isArray(list) || typeof list === 'string') && list.indexOf(value as never) > -1;
const operators: Record<string, (fact: Any, value: Any) => boolean> = {
  equal: (fact, value) => fact === value,
  notEqual: (fact, value) => fact !== value,
  in: (fact, value) => has(value, fact),
  notIn: (fact, value) => !has(value, fact),
  contains: (fact, value) => has(fact, value),
  doesNotContain: (fact, value) => Array.isArray(fact) && !fact.includes(value),
  lessThan: (fact, value) => isNumber(fact) && fact < value,
  lessThanInclusive: (fact, value) => isNumber(fact) && fact <= value,
  greaterThan: (fact, value) => isNumber(fact) && fact > value,
  greaterThanInclusive: (fact, value) => isNumber(fact) && fact >= value,
};

class Compare {
  key = '';
  operator = 'equal';
  value: unknown = null;
  doFlow(service: Data): boolean {
    return operators[this.operator]?.(service.getDeep(this.key), this.value) ?? false; // convert() knows the operator
  }
}
const { result } = leavesFor();
const leaves = {
  Compare,
  Emit: result({ type: '', params: {} }, (service, { type, params }) => {
    service.put('event', { type, params });
    return true;
  }),
};

const KNOWN = new Set(['all', 'any', 'not', 'fact', 'path', 'operator', 'value', 'name', 'priority']);

/** Throws for what would come out otherwise here. */
function check(condition: Condition): void {
  const refuse = (what: string) => {
    throw new TypeError(`${what} is not taken over: ${JSON.stringify(condition)}`);
  };
  const { all, any, not, fact, path = '', operator = '', value } = condition;
  for (const name of Object.keys(condition)) if (!KNOWN.has(name)) refuse(`"${name}"`);
  if (all || any || not) return;
  if (typeof fact !== 'string' || fact.includes('.')) refuse('a fact without a name, or with a dot in it,');
  if (!/^(\$?(\.[\w-]+)*)$/.test(path)) refuse(`the path ${path}`);
  if (!Object.hasOwn(operators, operator)) refuse(`the operator "${operator}"`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) refuse('an object as a value');
}

export function convert(engineRules: readonly EngineRule[]) {
  const nodes: Record<string, unknown>[] = [];
  const add = (node: object): number => nodes.push({ id: nodes.length + 1, ...node });
  const group = (type: number, children: readonly number[], inverse = false) =>
    add({ type, inverse, sonIds: children.join(',') });

  function nodeOf(condition: Condition, inverse = false): number {
    check(condition);
    const { all, any, not, fact, path = '', operator, value } = condition;
    if (not) return nodeOf(not, !inverse);
    // An empty `all` holds, and so does an empty `any`: a relation without children would have no opinion.
    const children = all ?? any;
    if (children?.length === 0) return group(2, [], inverse);
    if (children)
      return group(
        all ? 1 : 4,
        children.map((child) => nodeOf(child)),
        inverse,
      );
    const key = `${fact}${path.replace(/^\$/, '')}`;
    return add({ type: 5, inverse, confName: 'Compare', confField: { key, operator, value } });
  }

  const inOrder = [...engineRules].sort((one, other) => (other.priority ?? 1) - (one.priority ?? 1));
  const rules = inOrder.map(({ conditions, event }, index) => {
    const emit = add({ type: 6, confName: 'Emit', confField: { params: {}, ...event } });
    return { id: index + 1, scenes: 'taken-over', confId: group(1, [nodeOf(conditions), emit]) };
  });
  return { rules, nodes };
}

/** The events of the rules that fire, as `engine.run(facts)` gives them. */
export async function run(engineRules: readonly EngineRule[], facts: Record<string, unknown>) {
  const rules = await loadRules(convert(engineRules), { leaves, strict: true });
  const results = await rules.runScene({ scene: 'taken-over', data: facts });
  return results.flatMap(({ outcome, data }) => (outcome === 'TRUE' ? [data.event] : []));
}
