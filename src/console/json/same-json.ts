import type { Json } from '../../shared/json-tree/read-json.ts';

/** How two numbers relate: `rewritten` = one value written in two ways (1 and 1.0), `rounded` = one is what a 64-bit float makes of the other. */
type NumberRelation = 'same' | 'rewritten' | 'rounded' | 'different';

export function compareNumbers(before: string, after: string): NumberRelation {
  if (before === after) return 'same';
  if (canonical(before) === canonical(after)) return 'rewritten';
  return isRounded(before, after) ? 'rounded' : 'different';
}

function isRounded(before: string, after: string): boolean {
  const float = Number(before);
  return Number.isFinite(float) && canonical(String(float)) === canonical(after);
}

/** Whether two values are equal to the last digit; the order of members does not matter, the way a number is written does. */
export function sameJson(a: Json, b: Json): boolean {
  if (a.kind === 'object' && b.kind === 'object') {
    if (a.members.length !== b.members.length) return false;
    const others = new Map(b.members.map(({ key, value }) => [key, value]));
    return a.members.every(({ key, value }) => {
      const other = others.get(key);
      return other !== undefined && sameJson(value, other);
    });
  }
  if (a.kind === 'array' && b.kind === 'array') {
    return (
      a.items.length === b.items.length &&
      a.items.every((item, index) => {
        const other = b.items[index];
        return other !== undefined && sameJson(item, other);
      })
    );
  }
  if (a.kind === 'number' && b.kind === 'number') return a.text === b.text;
  if (a.kind === 'string' && b.kind === 'string') return a.value === b.value;
  if (a.kind === 'boolean' && b.kind === 'boolean') return a.value === b.value;
  return a.kind === 'null' && b.kind === 'null';
}

/** Digits without needless zeros and their exponent: two texts of one value have one canonical form. */
function canonical(number: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
  if (!match) return number;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  let first = 0;
  let last = digits.length;
  while (first < last && digits[first] === '0') first++;
  while (last > first && digits[last - 1] === '0') last--;
  if (first === last) return '0';
  return `${sign}${digits.slice(first, last)}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - last)}`;
}
