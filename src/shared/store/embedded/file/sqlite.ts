/**
 * SQLite, as Node brings it. Node 22 says at its first use that it is experimental, 24 and later do not. The tests of the packages run on 22,
 * and nobody who starts the service can do anything about it: so it is not said.
 */
export const { DatabaseSync } = quietly(() => process.getBuiltinModule('node:sqlite'));
export type DatabaseSync = InstanceType<typeof DatabaseSync>;

function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental feature'))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
