import type { CallToolResult } from '@modelcontextprotocol/server';
import { visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { CommandFailed } from '../terminal/surroundings.ts';
import { structuredOf } from './structured.ts';

/** Answers with the text that a call resolves to, and with the same for programs. Where the call fails, it answers with the reason. */
export async function answer(call: () => Promise<string>): Promise<CallToolResult> {
  try {
    const text = visibleJson(await call());
    return { content: [{ type: 'text', text }], structuredContent: structuredOf(text) };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { isError: true, content: [{ type: 'text', text: visibleLines(error.message) }] };
  }
}
