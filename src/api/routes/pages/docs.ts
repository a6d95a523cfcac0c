import { Hono } from 'hono';
import { version } from '../../../version.ts';
import { callerOf, ownOrigin } from '../../access/authenticate.ts';
import { docsPage } from '../../docs/page.ts';
import type { Environment } from '../../http/environment.ts';
import { json } from '../../http/respond.ts';
import { createOpenApiDocument } from '../../openapi/document.ts';

/** The interface's description: /openapi.json for programs, /docs for people. Made when somebody first asks for it. */
export function docsRoutes() {
  let made: { document: ReturnType<typeof createOpenApiDocument>; text: string } | undefined;
  const description = () => {
    if (made) return made;
    const document = createOpenApiDocument(version);
    made = { document, text: JSON.stringify(document) };
    return made;
  };
  return new Hono<Environment>()
    .get('/openapi.json', () => json(200, description().text))
    .get('/docs', (context) => {
      const caller = { origin: ownOrigin(context), withKey: callerOf(context).name !== null };
      return context.html(docsPage(description().document, caller));
    })
    .get('/docs/style.css', (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
}

/** The look of the reference page: light and dark, narrow and wide, nothing fetched from anywhere else. */
const style = `
:root { color-scheme: light dark; --line: light-dark(#d7dbe2, #343a46); --soft: light-dark(#f4f6f9, #1b1f27);
  --quiet: light-dark(#5a6472, #9aa5b5); --accent: light-dark(#1f5fbf, #7fb0ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 60rem); gap: 2rem; padding: 0 1.5rem 4rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 1.5rem 0; font-size: .9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { display: block; padding: .15rem 0; text-decoration: none; overflow-wrap: anywhere; }
a { color: var(--accent); }
h1 { margin: 1.5rem 0 0; } h2 { margin: 3rem 0 0; } h3 { margin: 2rem 0 .5rem; } h4 { margin: 1rem 0 .25rem; }
section { border-top: 1px solid var(--line); padding-bottom: 1rem; scroll-margin-top: 1rem; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; margin: .25rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
.method { text-transform: uppercase; font-weight: 600; color: var(--accent); }
.quiet { color: var(--quiet); }
summary { cursor: pointer; }
@media (max-width: 60rem) { .page { display: block; } nav { position: static; max-height: none; } }
`;
