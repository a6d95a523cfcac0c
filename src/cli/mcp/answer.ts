import type { CallToolResult } from '@modelcontextprotocol/server';
import { visibleJson, visibleLines } from '../../shared/contract/visible-text.ts';
import { CommandFailed } from '../surroundings.ts';
import { structuredOf } from './structured.ts';

/** What a tool answers: the text of its calls and the same for programs, or the sentence that says why there is none. */
export async function answer(call: () => Promise<string>): Promise<CallToolResult> {
  try {
    const text = visibleJson(await call());
    return { content: [{ type: 'text', text }], structuredContent: structuredOf(text) };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { isError: true, content: [{ type: 'text', text: visibleLines(error.message) }] };
  }
}
