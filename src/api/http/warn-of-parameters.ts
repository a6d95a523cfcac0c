import { joinMembers, scanJson } from '../../shared/contract/json/exact-json.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { unknownNames } from '../../shared/contract/nearest.ts';
import type { Layer } from './layers.ts';
import { isRead, parametersOf } from './parameters.ts';
import { badRequest, json } from './respond.ts';

/**
 * Names the parameters of a read that its route does not know: in `warnings` of an answer that is a JSON object. An answer in any other
 * form has no place for them, so it becomes a refusal. What changes something was refused before it began (`readParameters`).
 */
export function warnOfParameters(): Layer {
  return (context) => async () => {
    const { req, res } = context;
    if (!isRead(req.method) || res.status >= 300) return;
    const unknown = unknownNames([...parametersOf(context).keys()], context.var.parameters ?? []);
    if (unknown.length === 0) return;
    context.res = undefined; // else its headers would be laid over those of the new answer
    context.res = await withWarnings(res, unknown);
  };
}

async function withWarnings(res: Response, unknown: ReturnType<typeof unknownNames>): Promise<Response> {
  const refused = () => badRequest(unknown.map(({ name, message }) => ({ field: name, message })));
  if (!res.headers.get('content-type')?.startsWith('application/json')) {
    await res.body?.cancel(); // events would go on
    return refused();
  }
  const answer = scanJson(await res.text());
  if (answer.kind !== 'complete' || answer.type !== 'object') return refused();
  const warnings = unknown.map(({ name, message }) =>
    JSON.stringify({ code: 'unknown-parameter', message: visible(`${name} ${message}`) }),
  );
  const before = answer.members
    .find(({ key, kind }) => key === 'warnings' && kind === 'array')
    ?.raw.slice(1, -1)
    .trim();
  const members = answer.members.filter(({ key }) => key !== 'warnings').map(({ key, raw }) => [key, raw] as const);
  const all = `[${[...(before ? [before] : []), ...warnings].join(',')}]`;
  const whole = json(res.status, joinMembers([...members, ['warnings', all]]));
  for (const [name, value] of res.headers) if (name !== 'content-length') whole.headers.set(name, value);
  return whole;
}
