import type { CallToolResult } from '@modelcontextprotocol/server';
import { sameNumber } from '../../shared/cases/judging/decimal.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, RawNumber } from '../../shared/contract/json/raw-number.ts';
import { visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

/** The result of a call as text and as structured content; a failed command becomes an error result with its message. */
export async function answer(call: () => Promise<string>): Promise<CallToolResult> {
  try {
    const text = visibleJson(await call());
    return { content: [{ type: 'text', text }], structuredContent: structuredOf(text) };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { isError: true, content: [{ type: 'text', text: visibleLines(error.message) }] };
  }
}

/** The values of our own JSON text. A number that a 64-bit float does not hold becomes text with the digits as they were written. */
function structuredOf(json: string): Record<string, unknown> {
  const value = plain(parseExact(json));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new TypeError('a tool answers with an object');
}

function plain(value: ExactValue): unknown {
  if (value instanceof RawNumber) return numberOf(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  return value;
}

function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) && sameNumber(text, String(number)) ? number : text;
}
