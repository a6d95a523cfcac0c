/** The type that the cells of a column are turned into. A key whose type is not known holds text. */
export type CellType = 'integer' | 'number' | 'boolean' | 'text';

const INTEGERS = /^(?:int|integer|long|short|byte|biginteger|u?int\d+)$/i;
const NUMBERS = /^(?:float|double|number|decimal|bigdecimal|float\d+)$/i;
const BOOLEANS = /^bool(?:ean)?$/i;

/** The type of the cells below a key whose values a rule declares to be of this type. */
export function cellTypeOf(valueType: string): CellType {
  const name = valueType.split('.').at(-1) ?? '';
  if (INTEGERS.test(name)) return 'integer';
  return NUMBERS.test(name) ? 'number' : BOOLEANS.test(name) ? 'boolean' : 'text';
}
