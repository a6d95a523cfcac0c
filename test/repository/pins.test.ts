import { describe, expect, it } from 'vitest';
import { complaints, named } from '../../lint/pins.ts';

const sha = 'a'.repeat(40);
const digest = `sha256:${'b'.repeat(64)}`;
const file = (text: string) => [{ path: 'a.yml', text }];

describe('actions and images', () => {
  it.each([
    ['      - uses: actions/checkout@v5', 'actions/checkout@v5', false],
    [`      - uses: actions/checkout@${sha} # v5`, `actions/checkout@${sha}`, true],
    ['      - uses: github/codeql-action/init@v4', 'github/codeql-action/init@v4', false],
    ['      image: node:20-bookworm', 'node:20-bookworm', false],
    [`      image: node:20-bookworm@${digest}`, `node:20-bookworm@${digest}`, true],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as in a compose file
    ['    image: ${REDIS_IMAGE:-redis:8.2.1-alpine}', 'redis:8.2.1-alpine', false],
    ['ARG NODE_IMAGE=node:26-alpine', 'node:26-alpine', false],
    ["        redis: ['redis:7-alpine']", 'redis:7-alpine', false],
  ])('are found in %s', (text, name, isPinned) => {
    expect(named(text)).toMatchObject([{ name, isPinned }]);
  });

  it('that are not pinned are refused, unless they are listed; and the list has no others', () => {
    const unpinned = file('uses: actions/checkout@v5');
    expect(complaints(unpinned, [])).toEqual([expect.stringContaining('actions/checkout@v5 in a.yml is not pinned')]);
    expect(complaints(unpinned, ['actions/checkout@v5'])).toEqual([]);
    expect(complaints(file(`uses: actions/checkout@${sha}`), ['actions/checkout@v5'])).toEqual([
      expect.stringContaining('remove the line'),
    ]);
  });
});
