import { INT64_MAX } from './java-scalars.ts';

/** The id a file's name stands for, or undefined when it is not a positive int64 in plain decimal. */
export function idOfFileName(name: string): bigint | undefined {
  const digits = /^([1-9]\d{0,18})\.json$/.exec(name)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= INT64_MAX ? id : undefined;
}
