/** A JSON number as its digits without zeros at either end, and the power of ten they are multiplied with. */
type Decimal = { negative: boolean; digits: string; exponent: bigint };

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const LARGEST_EXPONENT = 400n;
const MOST_DIGITS = 10_000;

/** Whether two JSON numbers have the same value, however they are written. Nothing is expanded: 1e400 costs what 1 costs. */
export function sameNumber(a: string, b: string): boolean {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  if (left === null || right === null) return a === b;
  if (left.digits === '' || right.digits === '') return left.digits === right.digits; // -0 is 0
  return left.negative === right.negative && left.exponent === right.exponent && left.digits === right.digits;
}

/** Whether a number can stand in `$approx` or `$by`: its largest and smallest digit lie within 10^±400. */
export function isApproximable(text: string): boolean {
  const decimal = decimalOf(text);
  return decimal !== null && fits(decimal);
}

/** Whether `actual` lies at most `by` away from `expected`. The last two are approximable. */
export function isNear(actual: string, { expected, by }: { expected: string; by: string }): boolean {
  const [a, e, b] = [decimalOf(actual), decimalOf(expected), decimalOf(by)];
  if (!a || !e || !b || !fits(a)) return false;
  const lowest = [a, e, b].reduce((least, { exponent }) => (exponent < least ? exponent : least), 0n);
  const scaled = ({ negative, digits, exponent }: Decimal) =>
    BigInt(digits || '0') * 10n ** (exponent - lowest) * (negative ? -1n : 1n);
  const distance = scaled(a) - scaled(e);
  return (distance < 0n ? -distance : distance) <= scaled(b);
}

function fits({ digits, exponent }: Decimal): boolean {
  if (digits === '') return true;
  const highest = exponent + BigInt(digits.length);
  return digits.length <= MOST_DIGITS && highest <= LARGEST_EXPONENT && exponent >= -LARGEST_EXPONENT;
}

function decimalOf(text: string): Decimal | null {
  const match = NUMBER.exec(text);
  if (!match) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const all = `${whole}${fraction}`;
  let start = 0;
  while (all[start] === '0') start++;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end--;
  const digits = all.slice(start, end);
  if (digits === '') return { negative: false, digits, exponent: 0n };
  return {
    negative: sign === '-',
    digits,
    exponent: BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - end),
  };
}
