import { compactJson } from '../../shared/json-tree/print-json.ts';
import type { Json } from '../../shared/json-tree/read-json.ts';

const MAX_SHOWN = 400;

/** A value on one line, to the last digit; `old`: it is not there any more. */
export function ChangeValue({ json, old = false }: { json: Json; old?: boolean }) {
  const text = compactJson(json);
  const Element = old ? 'del' : 'ins';
  return (
    <Element className={`value ${json.kind}`}>
      {text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}
    </Element>
  );
}
