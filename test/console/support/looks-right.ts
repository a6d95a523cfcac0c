import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The least contrast of text (WCAG 2.2, 1.4.3 AA), and of text from 24 px, or 18.66 px in bold. */
const LEAST = 4.5;
const LEAST_LARGE = 3;

/** Nothing on a screen is cut, no head goes over two lines, one thing at most asks to be pressed first, and every text can be read. */
export async function expectRightLooks(page: Page): Promise<void> {
  expect(await page.evaluate(cutControls), 'controls whose words are cut').toEqual([]);
  expect(await page.evaluate(wrappedHeads), 'heads that wrap').toEqual([]);
  expect(await page.evaluate(cutNames), 'names of nodes with fewer than ten letters to see').toEqual([]);
  expect((await page.evaluate(primaries)).slice(1), 'primary actions beside the first').toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
  expect(await faintTexts(page), 'texts whose contrast is too low, where axe was not sure').toEqual([]);
}

function cutControls(): string[] {
  const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true }) && element.clientWidth > 1;
  return [...document.querySelectorAll('button, select, [role=tab], th, legend')]
    .filter((element) => isSeen(element) && !element.closest('.history td, .results'))
    .filter((element) => {
      // The words of a select are drawn in a box of their own.
      if (element instanceof HTMLSelectElement) {
        const drawn = document.createElement('canvas').getContext('2d');
        if (!drawn || element.title !== '') return false;
        const style = getComputedStyle(element);
        drawn.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const room =
          element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight) - 18;
        return drawn.measureText(element.selectedOptions[0]?.label ?? '').width > room + 1;
      }
      return element.scrollWidth > element.clientWidth + 1 && !(element instanceof HTMLElement && element.title !== '');
    })
    .map((element) => `${element.tagName} ${element.className}: ${element.textContent?.slice(0, 60)}`);
}

function wrappedHeads(): string[] {
  const oneLine = 58;
  if (window.innerWidth < 1440) return [];
  return [...document.querySelectorAll('.top, .views, .trace-tools, .tab-line, .history-head, .drawer-head')]
    .filter((head) => head.getBoundingClientRect().height > oneLine)
    .map((head) => `${head.className}: ${head.getBoundingClientRect().height}`);
}

function cutNames(): string[] {
  const letters = 10;
  return [...document.querySelectorAll<HTMLElement>('.tree .node-name')]
    .filter((name) => name.scrollWidth > name.clientWidth + 1)
    .filter((name) => {
      const drawn = document.createElement('canvas').getContext('2d');
      if (!drawn) return false;
      const { fontWeight, fontSize, fontFamily } = getComputedStyle(name);
      drawn.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      return drawn.measureText((name.textContent ?? '').slice(0, letters)).width > name.clientWidth;
    })
    .map((name) => `${name.textContent}: ${name.clientWidth} px`);
}

function primaries(): string[] {
  return [...document.querySelectorAll('.button.primary')]
    .filter((button) => button.checkVisibility() && getComputedStyle(button).borderColor === 'rgba(0, 0, 0, 0)')
    .map((button) => button.textContent ?? '');
}

/** Axe is not sure of text over something that lies elsewhere in the page: there the colours are composed by hand. */
async function faintTexts(page: Page): Promise<string[]> {
  const { incomplete } = await new AxeBuilder({ page }).withRules('color-contrast').analyze();
  const places = incomplete.flatMap(({ nodes }) => nodes.map(({ target }) => String(target[0])));
  return page.evaluate(
    ({ selectors, least, leastLarge }) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      if (!canvas) return ['no canvas'];
      const over = (colours: string[]) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
        }
        const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
        const linear = [red, green, blue].map((value) => {
          const part = value / 255;
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
      };
      const found: string[] = [];
      for (const selector of selectors) {
        const element = document.querySelector(selector);
        if (!element?.checkVisibility() || element.matches('[aria-disabled=true], :disabled')) continue;
        const behind: string[] = [];
        for (let at: Element | null = element; at; at = at.parentElement)
          behind.unshift(getComputedStyle(at).backgroundColor);
        const { color, fontSize, fontWeight } = getComputedStyle(element);
        const [text, ground] = [over([...behind, color]), over(behind)];
        const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
        const size = Number.parseFloat(fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
        if (contrast < (isLarge ? leastLarge : least))
          found.push(`${selector} "${element.textContent?.slice(0, 30)}": ${contrast.toFixed(2)}`);
      }
      return found;
    },
    { selectors: places, least: LEAST, leastLarge: LEAST_LARGE },
  );
}
