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

/** Below 0 when `a` is less than `b`, 0 when they have the same value, above 0 when it is more; null when one is no JSON number. */
export function orderOf(a: string, b: string): number | null {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  if (left === null || right === null) return null;
  const sign = ({ digits, negative }: Decimal) => (digits === '' ? 0 : negative ? -1 : 1);
  const signs = sign(left) - sign(right);
  if (signs !== 0 || left.digits === '') return signs;
  return left.negative ? -sizes(left, right) : sizes(left, right);
}

/** The same for two that are not 0, without their signs. */
function sizes(left: Decimal, right: Decimal): number {
  const highest = ({ digits, exponent }: Decimal) => exponent + BigInt(digits.length);
  const [a, b] = [highest(left), highest(right)];
  if (a !== b) return a < b ? -1 : 1;
  // Both begin at the same power of ten, so the digits are in the order of the values.
  return left.digits === right.digits ? 0 : left.digits < right.digits ? -1 : 1;
}

/** Whether a number can stand in `$approx` or `$by`: its largest and smallest digit lie within 10^±400. */
export function isApproximable(text: string): boolean {
  const decimal = decimalOf(text);
  return decimal !== null && fits(decimal);
}

/** Whether `actual` is at most `by` away from `expected`. The last two are approximable. */
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
