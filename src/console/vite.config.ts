import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

type Modules = { getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null };

/** Whether the page needs a module before its first picture: static imports lead to it from the entry. */
function isFirst(id: string, modules: Modules, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const info = modules.getModuleInfo(id);
  return info !== null && (info.isEntry || info.importers.some((importer) => isFirst(importer, modules, seen)));
}

const firstName = (id: string, modules: Modules) => (isFirst(id, modules) ? 'first' : null);

/** The module that runs while the page is built: the page gets its exports as data. */
const EVALUATED = `${import.meta.dirname}/api/shapes.ts`;
const evaluated: Plugin = {
  name: 'evaluated',
  async load(id) {
    if (id !== EVALUATED) return null;
    const exported: object = await import(EVALUATED);
    const data = Object.entries(exported).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
    return data.join('\n');
  },
};

/** Builds the page; `npm run build` says where to. Everything it loads comes from the service itself. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [evaluated, react({ jsxImportSource: '#jsx' })],
  resolve: {
    alias: [
      { find: /^#jsx\/.*$/, replacement: `${import.meta.dirname}/ui/jsx.ts` },
      // The same reader without Node.
      { find: 'csv-parse/sync', replacement: 'csv-parse/browser/esm/sync' },
    ],
  },
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'], // light-dark() in style sheets
    outDir: '../../dist/console',
    emptyOutDir: true,
    // Assets as data: URLs would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What the first picture needs and others share is one file, and so is what only later parts share: each file more is one more request.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: firstName, debugName: 'first', priority: 1 },
            { name: 'later', minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/rule-server': 'http://127.0.0.1:8080', '/session': 'http://127.0.0.1:8080' } },
});
