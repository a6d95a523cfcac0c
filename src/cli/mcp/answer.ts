import type { CallToolResult } from '@modelcontextprotocol/server';
import { visibleJson, visibleLines } from '../../shared/contract/visible-text.ts';
import { CommandFailed } from '../surroundings.ts';

/** What a tool answers: the text of its calls, or the sentence that says why there is none. */
export async function answer(call: () => Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: visibleJson(await call()) }] };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { isError: true, content: [{ type: 'text', text: visibleLines(error.message) }] };
  }
}
