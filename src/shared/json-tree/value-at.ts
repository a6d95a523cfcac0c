import type { Json } from './read-json.ts';

export type Path = readonly string[];

/** The value at a path: names lead into objects, whole numbers into lists. */
export function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path) value = value && below(value, step);
  return value;
}

/** The member or item of a value. */
export function below(value: Json, step: string): Json | undefined {
  if (value.kind === 'object') return value.members.find(({ key }) => key === step)?.value;
  return value.kind === 'array' && /^\d+$/.test(step) ? value.items[Number(step)] : undefined;
}
