import type { Page } from 'playwright-core';

/**
 * The tree as the page paints it, a line per place: indented by its depth, `if` before a condition, the kind of a relation,
 * name and number, its result, what is said beside it. What did not run is in brackets. With `times` each ends in its own.
 */
export function paintedTree(page: Page, { times = false } = {}): Promise<string[]> {
  return page
    .getByRole('treegrid')
    .locator('.tree-row')
    .evaluateAll(
      (rows, withTimes) =>
        rows.map((row) => {
          const text = (selector: string) =>
            [...row.querySelectorAll(selector)].flatMap(({ textContent }) => textContent || []).join(' ');
          const name = text('.tag.condition, .tag.relation, .node-name, .node-id, .chip');
          const said = text('.skip, .hidden-words');
          const line = [name, said, withTimes ? text('.tree-time') : ''].filter(Boolean).join(' · ');
          const depth = Number(row.getAttribute('aria-level')) - 1;
          return '  '.repeat(depth) + (row.classList.contains('skipped') ? `(${line})` : line);
        }),
      times,
    );
}
