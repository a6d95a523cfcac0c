import { type ExactValue, RawNumber } from '../../../src/shared/contract/json/raw-number.ts';

/**
 * Whether data is as expected, decided in another way than the product does: everything is turned into facts ("at this
 * path there is this value"), numbers into their full digits, and the expected facts are looked for among the actual ones.
 */
export function agrees(expected: ExactValue, actual: ExactValue): boolean {
  const actualFacts = factsOf(actual);
  const expectedFacts = factsOf(expected);
  for (const [path, fact] of expectedFacts) if (actualFacts.get(path) !== fact) return false;
  // Inside a list there is nothing that was not expected.
  for (const [path] of actualFacts) {
    const list = [...expectedFacts].some(([known, fact]) => fact === 'list' && path.startsWith(`${known}[`));
    if (list && !expectedFacts.has(path)) return false;
  }
  return true;
}

function factsOf(value: ExactValue, path = '$', facts = new Map<string, string>()): Map<string, string> {
  if (value instanceof RawNumber) facts.set(path, `number ${written(value.text)}`);
  else if (Array.isArray(value)) {
    facts.set(path, 'list');
    for (const [index, element] of value.entries()) factsOf(element, `${path}[${index}]`, facts);
    facts.set(`${path}[length]`, String(value.length));
  } else if (typeof value === 'object' && value !== null) {
    facts.set(path, 'object');
    for (const [key, member] of Object.entries(value)) factsOf(member, `${path}.${JSON.stringify(key)}`, facts);
  } else facts.set(path, JSON.stringify(value));
  return facts;
}

/** A number with all its digits, before and after the point: only for small exponents. */
function written(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  const digits = `${'0'.repeat(600)}${whole}${fraction}${'0'.repeat(600)}`;
  const point = 600 + whole.length + shift;
  const before = digits.slice(0, point).replace(/^0+/, '');
  const after = digits.slice(point).replace(/0+$/, '');
  return before === '' && after === '' ? '0' : `${negative ? '-' : ''}${before}.${after}`;
}
