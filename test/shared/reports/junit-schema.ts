import type { Element } from './read-xml.ts';

/**
 * The facts of the schema that the xUnit plugin of Jenkins publishes (junit-10.xsd), as far as reports of ours use them:
 * which elements may stand in which, which attributes each may and must have, and what they hold.
 */
const NUMBER = /^\d+$/;
const SECONDS = /^\d+(\.\d+)?$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/;
const ANY = /.*/s;
type Rule = { children: string[]; required: Record<string, RegExp>; optional: Record<string, RegExp>; mixed?: boolean };

const rules: Record<string, Rule> = {
  testsuites: {
    children: ['testsuite'],
    required: {},
    optional: { name: ANY, time: SECONDS, tests: NUMBER, failures: NUMBER, errors: NUMBER },
  },
  testsuite: {
    children: ['properties', 'testcase', 'system-out', 'system-err'],
    required: { name: ANY, tests: NUMBER, failures: NUMBER, errors: NUMBER },
    optional: {
      group: ANY,
      time: SECONDS,
      skipped: NUMBER,
      timestamp: TIME,
      hostname: ANY,
      id: ANY,
      package: ANY,
      file: ANY,
    },
  },
  testcase: {
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
    required: { name: ANY, classname: ANY },
    // GitHub and GitLab read file and line.
    optional: { time: SECONDS, group: ANY, file: ANY, line: NUMBER },
  },
  failure: { children: [], required: {}, optional: { message: ANY, type: ANY }, mixed: true },
  error: { children: [], required: {}, optional: { message: ANY, type: ANY }, mixed: true },
  skipped: { children: [], required: {}, optional: { message: ANY, type: ANY }, mixed: true },
};

/** In which ways a report is not what the schema says. */
export function schemaProblems(element: Element): string[] {
  const rule = rules[element.name];
  if (!rule) return [`unknown element ${element.name}`];
  const { attributes, children, text } = element;
  const known: Record<string, RegExp> = { ...rule.required, ...rule.optional };
  return [
    ...Object.keys(rule.required)
      .filter((name) => !(name in attributes))
      .map((name) => `${element.name} lacks ${name}`),
    ...Object.entries(attributes)
      .filter(([name, value]) => !known[name]?.test(value))
      .map(([name, value]) => `${element.name} ${name}=${value}`),
    ...children.filter(({ name }) => !rule.children.includes(name)).map(({ name }) => `${name} in ${element.name}`),
    ...(rule.mixed || text.trim() === '' ? [] : [`text in ${element.name}: ${text}`]),
    ...children.flatMap(schemaProblems),
  ];
}
