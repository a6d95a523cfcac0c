import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Builds the page; `npm run build` says where to. Everything it loads comes from the service itself. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react({ jsxImportSource: '#jsx' })],
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
    // All that several parts share is one file: each file more is one request more before the first picture. What is about cases, or
    // would have been, is fetched when it is wanted.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', minShareCount: 2, test: /^(?!.*\/(cases|what-if|api\/(cases|batch|follow-batch)))/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/rule-server': 'http://127.0.0.1:8080', '/session': 'http://127.0.0.1:8080' } },
});
