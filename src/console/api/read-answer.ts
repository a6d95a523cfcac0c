import { decoders, isInteger, parseAnswer } from '../../shared/contract/decoders.ts';
import { type ExactValue, isExactObject, RawNumber } from '../../shared/contract/json/raw-number.ts';
import { type Shape, table } from './shapes.ts';

/** Reads an answer of the service. Members that its shape does not name are passed over. Throws a `Misfit` with the place of the first value that does not fit. */
export function readAs<T>(shape: Shape<T>, body: string): T {
  const read = valueIn(shape.at, parseAnswer(body), '');
  if (fits(shape, read)) return read;
  throw new Misfit('');
}

class Misfit extends Error {
  constructor(path: string) {
    super(`The service is of another version: ${path.slice(1)}`);
  }
}

/** Only tells the compiler: `valueIn` throws for a value that does not have the shape. */
const fits = <T>(_: Shape<T>, read: unknown): read is T => read !== undefined;

function valueIn(at: number, value: ExactValue | undefined, path: string): unknown {
  const [kind, of] = table[at] ?? ['enum', []];
  switch (kind) {
    case 'text':
      if (typeof value === 'string') return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'integer':
    case 'int64':
      if (isInteger(value)) return decoders[kind](value);
      break;
    case 'json':
      if (value !== undefined) return decoders.json(value);
      break;
    case 'missing':
      if (typeof value === 'boolean' || typeof value === 'string' || value instanceof RawNumber)
        return decoders.missing(value);
      break;
    case 'enum':
      if (of.includes(value)) return value;
      break;
    case 'nullable':
      return value === null ? null : valueIn(of, value, path);
    case 'optional':
      return value === undefined ? undefined : valueIn(of, value, path);
    case 'lenient':
      return orElse(() => valueIn(of, value, path), undefined);
    case 'union':
      for (const option of of) {
        const read = orElse(() => valueIn(option, value, path), undefined);
        if (read !== undefined) return read;
      }
      break;
    case 'array':
      if (Array.isArray(value)) return value.map((each, index) => valueIn(of, each, `${path}.${index}`));
      break;
    case 'record':
      if (isExactObject(value)) return membersIn(Object.keys(value), value, path, () => of);
      break;
    case 'object':
      if (isExactObject(value)) return membersIn(Object.keys(of), value, path, (name) => of[name] ?? -1);
      break;
  }
  throw new Misfit(path);
}

function membersIn(
  names: readonly string[],
  value: { [name: string]: ExactValue },
  path: string,
  of: (name: string) => number,
) {
  const members = names.map((name) => [name, valueIn(of(name), value[name], `${path}.${name}`)] as const);
  return Object.fromEntries(members.filter(([, read]) => read !== undefined));
}

/** The result of `read`, or `other` if it throws. */
export function orElse<T>(read: () => T, other: T): T {
  try {
    return read();
  } catch {
    return other;
  }
}
