import { visible, visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi } from '../terminal/http-api.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { explainRun, explainWhole } from './explain-run.ts';
import { CHANGED, openRunFile } from './run-file.ts';

type ExplainOptions = { url: string; key?: string; json?: boolean };

const isMockId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text);

/**
 * Prints why an execution came out as it did: what decided, a sentence for each reason, and which rules it ran on. `run`: its id, or the file of
 * a saved one, for which no service is asked.
 */
export async function explainExecution(
  run: string,
  options: ExplainOptions,
  { stdout }: Surroundings,
): Promise<number> {
  const saved = isMockId(run) ? null : await openRunFile(run);
  const api = createHttpApi({ url: options.url, key: options.key });
  const explained = saved ? await explainWhole(saved.execution) : await explainRun(api, run);
  const { outcome, path, sentences, change, about, knowsRules } = explained;
  const mockId = saved?.mockId ?? run;
  const isChanged = saved?.changed === true;
  const code = isChanged ? exitCodes.failed : exitCodes.ok;
  if (options.json) {
    const explained = {
      mockId,
      outcome,
      path,
      sentences,
      change,
      knowsRules,
      about,
      ...(saved && { changed: isChanged }),
    };
    stdout.write(`${visibleJson(JSON.stringify(explained))}\n`);
    return code;
  }
  const lines = [
    ...(isChanged ? [CHANGED] : []),
    outcome === null
      ? 'What decided is not known: there is no trace, or it does not fit the tree.'
      : `It came to ${outcome}.`,
    ...sentences,
    about,
  ];
  stdout.write(`${visibleLines(lines.join('\n'))}\n`);
  if (path.length > 0)
    stdout.write(`${path.map(({ nodeId, name, outcome }) => visible(`#${nodeId} ${name} ${outcome}`)).join(' > ')}\n`);
  return code;
}
