import type { Locator, Page } from 'playwright-core';

/** What somebody does on a page, counted: a press of the mouse is a click, each letter and each other key a keystroke. */
export function counted(page: Page) {
  let [clicks, keys] = [0, 0];
  return {
    async click(element: Locator): Promise<void> {
      clicks++;
      await element.click();
    },
    /** Chooses of a list that opens: one click for the list, one for its line. */
    async choose(list: Locator, option: string): Promise<void> {
      clicks += 2;
      await list.selectOption(option);
    },
    /** Three quick clicks take what is in a field: counted as one. Then it is typed over. */
    async typeOver(field: Locator, text: string): Promise<void> {
      clicks++;
      await field.click({ clickCount: 3 });
      keys += text.length;
      await page.keyboard.type(text);
    },
    async type(text: string): Promise<void> {
      keys += text.length;
      await page.keyboard.type(text);
    },
    async press(key: string): Promise<void> {
      keys += key.split('+').length;
      await page.keyboard.press(key);
    },
    sum: () => ({ clicks, keys }),
  };
}
