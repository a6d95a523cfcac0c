/** `node:sqlite` without the ExperimentalWarning of Node 22: an operator can do nothing about it, and the packages are tested on 22. */
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
