import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { suiteConfig } from '../support/suite-config.ts';

const root = join(import.meta.dirname, '../..');
/** The compiled client to test, unpacked: the tests of the sources then import its files instead. */
const dist = resolve(process.env.CLIENT_DIST ?? join(root, 'dist'));

const config = suiteConfig({
  include: [
    ...['test/client/{engine,rules,leaves}/**/*.test.ts', 'test/client/{client,options}.test.ts'],
    'test/packages/matchers.test.ts',
  ],
  maxWorkers: 2,
  isolate: false,
});

export default {
  ...config,
  root,
  plugins: [
    {
      name: 'compiled-client',
      enforce: 'pre' as const,
      resolveId(source: string, importer: string | undefined) {
        if (!source.startsWith('.') || !importer?.startsWith(join(root, 'test'))) return null;
        const path = relative(join(root, 'src'), resolve(importer, '..', source));
        const compiled = join(dist, path.replace(/\.ts$/, '.js'));
        if (!/^(client|shared[/\\](contract|rules))[/\\]/.test(path) || path.includes('demo')) return null;
        if (!existsSync(compiled)) throw new Error(`the package has no ${path}: ${compiled}`);
        return compiled;
      },
    },
  ],
};
