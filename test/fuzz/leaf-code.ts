import fc from 'fast-check';
import type { Data } from '../../src/client/engine/data/data.ts';

type Code = fc.Arbitrary<string>;
const code = (texts: TemplateStringsArray, ...parts: Code[]): Code =>
  fc.tuple(...parts).map((values) => String.raw({ raw: texts }, ...values));
const either = (...codes: Code[]): Code => fc.oneof({ depthSize: 'small', withCrossShrink: true }, ...codes);

/** What stands around a leaf: names of its module, and what a leaf of a team has beside its method. */
const around = (body: string): string => `
  const TABLE = { x: 'table.x', y: 'table.y' }, NAMES = ['name1', 'name2'], NAMED = new Map([['one', 'map.one']]), SET = new Set(['set1', 'set2']);
  const COUNTED = new Map([['one', 'counted']]), LISTED = ['listed'], kept = [];
  let current = 'current';
  const named = (key) => \`named.\${key}\`, read = (service, key, { prefix = '' } = {}) => service.get(prefix + key), later = async (value) => value;
  const keep = (work) => { kept.push(work); return Promise.resolve().then(() => kept.pop()?.()).catch(() => {}); };
  class Helper { prefix = 'helper.'; of(key) { return this.prefix + key; } read(service, key) { return service.get(this.of(key)); } }
  const helper = new Helper();
  return class {
    name = 'name'; _kept = 'kept'; #own = 'own';
    get path() { return \`\${this._kept}.\${this.#own}\`; }
    of(key) { return \`of.\${key}\`; }
    read(service, key = 'default') { return service.get(key); }
    async doNone(s) {
      let k1 = 'k1', k2; const l1 = ['l1', 'l2'], o1 = { x: 'o1.x', y: 'o1.y' };
      ${body}
      s.get(k1); s.get(k2 ?? 'k2'); for (const each of l1) s.get(each); s.get(o1.x);
    }
  };`;

const { body } = fc.letrec<Record<'body' | 'statement' | 'look' | 'key' | 'maybe' | 'list' | 'object', string>>(
  (tie) => {
    const [key, list, object, maybe] = [tie('key'), tie('list'), tie('object'), tie('maybe')];
    const [statement, look] = [tie('statement'), tie('look')];
    const plain = fc.constantFrom(
      "'a'",
      "'b'",
      "'c'",
      'k1',
      'o1.x',
      'TABLE.y',
      'current',
      'this.name',
      'this._kept',
      'this.path',
    );
    const test = either(fc.constantFrom('s.ts > 0', 's.ts > 1'), code`${key} > ${key}`, code`${list}.includes(${key})`);
    return {
      key: either(
        ...[
          plain,
          code`(${maybe} ?? ${key})`,
          code`\`\${${key}}.\${${key}}\``,
          code`(${key} + ${key})`,
          code`${object}.x`,
        ],
        ...[code`(${test} ? ${key} : ${key})`, code`(${maybe} || ${key})`, code`named(${key})`, code`this.of(${key})`],
        ...[code`helper.of(${key})`, code`${list}.join('.')`, code`${key}.toUpperCase()`, code`String(s.get(${key}))`],
        code`((k1) => { ${statement} return ${key}; })(${key})`,
      ),
      maybe: either(
        ...[
          code`${list}[1]`,
          code`${list}.at(-1)`,
          code`${object}.z`,
          code`NAMED.get(${key})`,
          code`COUNTED.get('one')`,
        ],
        ...[fc.constantFrom('k2', 'undefined'), code`${list}.find((each) => each > ${key})`, code`s.string(${key})`],
      ),
      list: either(
        ...[fc.constantFrom('l1', 'NAMES', 'LISTED', '[...SET]', '[...NAMED.keys()]'), code`[${key}, ${key}]`],
        ...[
          code`[...${list}, ${key}]`,
          code`${list}.map((each) => ${key} + each)`,
          code`${list}.filter((each) => each > ${key})`,
        ],
        ...[
          code`Object.keys(${object})`,
          code`Object.values(${object})`,
          code`Object.entries(${object}).map(([, each]) => each)`,
        ],
        ...[
          code`${list}.slice(1)`,
          code`${list}.concat(${list})`,
          code`${list}.toReversed()`,
          code`${list}.toSorted()`,
        ],
        ...[
          code`${list}.flatMap((each) => [each, ${key}])`,
          code`[...new Set(${list})]`,
          code`Array.from(${list}, (each) => each)`,
        ],
      ),
      object: either(
        ...[fc.constantFrom('o1', 'TABLE'), code`({ x: ${key}, y: ${key} })`, code`({ ...${object}, x: ${key} })`],
        ...[code`Object.assign({ x: ${key} }, ${object})`, code`({ [${test} ? 'x' : 'y']: ${key}, x: ${key} })`],
      ),
      look: either(
        ...[code`s.get(${key});`, code`s.deep.get(${key});`, code`read(s, ${key});`, code`read(s, ${key}, ${object});`],
        ...[code`this.read(s, ${maybe});`, code`helper.read(s, ${key});`, code`s.get.call(s, ${key});`],
        ...[code`for (const each of ${list}) s.get(each);`, code`for (const each in ${object}) s.get(each);`],
        ...[
          code`${list}.forEach((each, at) => s.get(each + at));`,
          code`new Set(${list}).forEach((_, each) => s.get(each));`,
        ],
        ...[
          code`NAMED.forEach((each, name) => s.get(name + each));`,
          code`for (const [name, each] of NAMED) s.get(name + each);`,
        ],
        ...[
          code`setTimeout(() => { try { s.get(${key}); } catch {} });`,
          code`keep(() => s.get(${key}));`,
          code`[s].map((data) => data.get(${key}));`,
        ],
        code`later().then(() => s.get(${key})).catch(() => {});`,
      ),
      statement: either(
        ...[
          look,
          code`k1 = ${key};`,
          code`k2 ??= ${key};`,
          code`k1 += ${key};`,
          code`l1.push(${key});`,
          code`l1[0] = ${key};`,
        ],
        ...[code`l1.reverse();`, code`l1.splice(0, 1, ${key});`, code`o1.x = ${key};`, code`delete o1.x;`],
        ...[
          code`this._kept = ${key};`,
          code`current = ${key};`,
          code`LISTED.push(${key});`,
          code`COUNTED.set('one', ${key});`,
        ],
        ...[
          code`if (${test}) { ${statement} } else { ${statement} }`,
          code`try { ${statement} throw new Error(); } catch { ${look} }`,
        ],
        ...[
          code`{ const { x: k1 = ${key}, ...o1 } = ${object}; ${statement} }`,
          code`{ const [k1 = ${key}, ...l1] = ${list}; ${statement} }`,
        ],
        ...[
          code`{ ${look} function named(k1) { return k1 + ${key}; } }`,
          code`for (const k1 of ${list}.slice(0, 3)) { ${look} }`,
        ],
        ...[
          code`{ const k1 = (() => { ${statement} return ${key}; })(); ${look} }`,
          code`switch (${key}) { case ${key}: ${statement} break; default: ${look} }`,
        ],
      ),
      body: fc.array(statement, { minLength: 1, maxLength: 5 }).map((statements) => statements.join(' ')),
    };
  },
);

/** A leaf that only looks things up. */
export type RandomLeaf = new () => { doNone(service: Data): Promise<void> };

/** The code of a leaf as a team might write it, and a function that makes its class: the body of `doNone` is random. */
export const leafCode = body.map((text) => ({ text, make: (): RandomLeaf => new Function(around(text))() }));
