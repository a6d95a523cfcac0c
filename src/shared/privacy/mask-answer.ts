import { mapElements } from '../cases/split-array.ts';
import { DATA_FIELD } from '../contract/data-field.ts';
import { joinMembers, scanJson } from '../contract/json/exact-json.ts';
import type { Member } from '../contract/json/json-tokens.ts';
import { HIDDEN, type HiddenField, hideAt, namesOf } from './hide-at.ts';
import type { Quotes } from './hide-quoted.ts';

type Hide = {
  data: (raw: string) => string;
  quotes: Quotes;
  fields: readonly HiddenField[];
  note: (path: string, raw: string) => void;
};

/** Masks a client's answer. The data comes first, so that copies of its hidden values are found in the rest. */
export function maskAnswer(raw: string, hide: Hide): string {
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete' || scanned.type !== 'object') return raw === '' ? raw : 'null';
  const withData = scanned.members.map(({ key, raw: value }) => (key === DATA_FIELD ? hide.data(value) : value));
  return joinMembers(
    scanned.members.map(({ key }, index) => {
      const value = withData[index] ?? HIDDEN;
      if (key === DATA_FIELD || key === 'mockId') return [key, value];
      return [hide.quotes.text(key), besideData(value, hide)];
    }),
  );
}

/** In a trace, hides values by their key first, then texts that quote a hidden value. */
function besideData(raw: string, hide: Hide): string {
  return hide.quotes.json(withoutAccessed(raw, hide));
}

function withoutAccessed(raw: string, hide: Hide): string {
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete') return HIDDEN;
  if (scanned.type === 'array') return mapElements(scanned.raw, (each) => withoutAccessed(each, hide));
  if (scanned.type !== 'object') return raw;
  const key = scanned.members.find((member) => member.key === 'key' && member.kind === 'string');
  const route = key === undefined ? null : String(JSON.parse(key.raw));
  const shown = (member: Member) => withoutAccessed(route === null ? member.raw : accessed(route, member, hide), hide);
  return joinMembers(scanned.members.map((member) => [member.key, shown(member)]));
}

/** A value that a node read or wrote under a key: `a.b` may be a member of that name, or one inside another. */
function accessed(key: string, { key: name, raw }: Member, { fields, note }: Hide): string {
  if (name !== 'value' && name !== 'before' && name !== 'after') return raw;
  return fields.reduce((shown, { path, steps }) => {
    const names = namesOf(steps);
    const leadsThere = (route: string[]) =>
      route.every((step, index) => index >= names.length || step === names[index]);
    const route = [[key], namesOf(key.split('.'))].find(leadsThere);
    return route === undefined ? shown : hideAt(shown, names.slice(route.length), (found) => note(path, found));
  }, raw);
}
