import { createOpenApiDocument, operations } from '../../src/api/openapi/document.ts';
import { outcomes } from '../../src/shared/reasons/codes.ts';
import { refusals } from '../../src/shared/reasons/refusals.ts';
import { createAnswerChecks } from '../support/answer-checks.ts';
import type { Answer } from '../support/http-call.ts';

const checks = createAnswerChecks(createOpenApiDocument('0.0.0'));
const codes = new Map<string, { status: number }>(Object.entries({ ...refusals, ...outcomes }));
/** What no answer may give away, beside this run's own directory and store. */
const INSIDES = [
  /\bnode:internal/,
  /\.ts:\d/,
  /\.js:\d/,
  /\bat (?:async )?\w+ \(/,
  /node_modules/,
  /ioredis/i,
  /ECONN/,
];

/** What is wrong with an answer, whatever was asked: its status, its shape, or what it gives away. */
export function unsound(id: string, answer: Answer, secrets: string[]): string[] {
  const { status, text, json } = answer;
  const type = String(answer.headers['content-type']).split(';')[0] ?? '';
  const problems: string[] = [];
  const documented = operations.find((operation) => operation.id === id)?.answers ?? {};
  if (status === 500) problems.push('a fault of ours');
  else if (status === 404 || status === 405) problems.push(...refusalProblems(answer, type));
  else if (!(String(status) in documented)) problems.push(`${status} is not documented for ${id}`);
  else problems.push(...checks.problems(id, status, type.includes('json') ? json : text, type));
  if (json?.code !== undefined && status !== 200 && codes.get(json.code)?.status !== status)
    problems.push(`${json.code} is not told with ${status}`);
  for (const secret of secrets) if (text.includes(secret)) problems.push(`tells ${secret}`);
  if (status >= 400) for (const inside of INSIDES) if (inside.test(text)) problems.push(`tells ${inside}`);
  return problems;
}

function refusalProblems({ status, json }: Answer, type: string): string[] {
  const isProblem = type === 'application/problem+json' && json?.status === status && json?.success === false;
  return isProblem && typeof json.error === 'string' ? [] : [`${status} is no refusal`];
}
