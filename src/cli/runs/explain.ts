import { visible, visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi } from '../terminal/http-api.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { explainRun } from './explain-run.ts';

export type ExplainOptions = { url: string; key?: string; json?: boolean };

/** Prints why an execution came out as it did: what decided, a sentence for each reason, and which rules it ran on. */
export async function explainExecution(
  mockId: string,
  options: ExplainOptions,
  { stdout }: Surroundings,
): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const { decision, path, sentences, change, about, knowsRules } = await explainRun(api, mockId);
  if (options.json) {
    stdout.write(`${visibleJson(JSON.stringify({ mockId, decision, path, sentences, change, knowsRules, about }))}\n`);
    return exitCodes.ok;
  }
  const lines = [
    decision === null
      ? 'What decided is not known: there is no trace, or it does not fit the tree.'
      : `It came to ${decision}.`,
    ...sentences,
    about,
  ];
  stdout.write(`${visibleLines(lines.join('\n'))}\n`);
  if (path.length > 0)
    stdout.write(`${path.map(({ nodeId, name, outcome }) => visible(`#${nodeId} ${name} ${outcome}`)).join(' > ')}\n`);
  return exitCodes.ok;
}
