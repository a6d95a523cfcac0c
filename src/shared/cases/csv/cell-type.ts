/** The type that the cells of a column are turned into. A key whose type is not known holds text. */
export type CellType = 'number' | 'boolean' | 'text';

const NUMBERS =
  /^(?:int|integer|long|short|byte|float|double|number|decimal|bigdecimal|biginteger|u?int\d+|float\d+)$/i;
const BOOLEANS = /^bool(?:ean)?$/i;

/** The type of the cells below a key whose values a rule declares to be of this type. */
export function cellTypeOf(valueType: string): CellType {
  const name = valueType.split('.').at(-1) ?? '';
  return NUMBERS.test(name) ? 'number' : BOOLEANS.test(name) ? 'boolean' : 'text';
}
