import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { visibleJson } from '../../shared/contract/json/visible-text.ts';
import { exitCodeOfAnswer, exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, errorOf } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

type EraseOptions = { url: string; key?: string; json?: boolean };

const erasedSchema = z.object({ found: z.boolean() });
const MOCK_ID = /^[0-9a-f-]{36}$/;

/** Erases every trace of one execution that has ended. Ends with 3 when there is none. */
export async function erase(
  mockId: string,
  { json, ...where }: EraseOptions,
  { stdout }: Surroundings,
): Promise<number> {
  if (!MOCK_ID.test(mockId)) throw new CommandFailed(`${mockId} is no mockId.`, exitCodes.usage);
  const api = createHttpApi({ url: where.url, key: where.key });
  const path = `/rule-server/mock/executions/${mockId}?erase=true`;
  const { status, text } = await api.call(path, { method: 'DELETE' });
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status));
  const { found } = erasedSchema.parse(parseJson(text));
  const words = found ? `Execution ${mockId} is erased.` : `There is no execution ${mockId}: nothing was erased.`;
  stdout.write(json ? `${visibleJson(text)}\n` : `${words}\n`);
  return found ? exitCodes.ok : exitCodes.rejected;
}
