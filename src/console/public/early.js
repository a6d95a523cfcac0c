// Before anything is drawn, so that no page in the wrong colours flashes up.
try {
  const theme = JSON.parse(localStorage.getItem('rule-server.theme'));
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The system's colours then.
}

// The page's first questions are sent here, while its own code is still loading. The paths are those of `api/browse.ts`: when the page asks
// for the same path, the browser gives it this answer.
{
  const here = new URLSearchParams(location.search);
  const id = (name) => (/^\d{1,19}$/.test(here.get(name) ?? '') ? here.get(name) : null);
  const [app, ruleId, confId] = [id('app'), id('rule'), id('node')];
  const [, kind, client] = /^(lane|address):(.+)$/s.exec(here.get('target') ?? '') ?? [];
  const ask = (name, query) => {
    const pairs = Object.entries(query).filter(([, value]) => value !== null);
    const printed = new URLSearchParams(pairs).toString();
    const href = `/rule-server/mock/${name}${printed === '' ? '' : `?${printed}`}`;
    document.head.append(
      Object.assign(document.createElement('link'), { rel: 'preload', as: 'fetch', crossOrigin: '', href }),
    );
  };
  if (app !== null && (ruleId !== null || confId !== null)) {
    const selection = { app, ruleId, confId, ...(kind && { [kind]: client }) };
    ask('tree', selection);
    ask('schema', selection);
  }
  if (app !== null) {
    ask('rules', { app });
    ask('clients', { app });
  }
  ask('apps', {});
}
