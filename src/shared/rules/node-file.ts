import { NotJson, parseExact } from '../contract/json/exact-json.ts';
import { type ExactObject, isExactObject } from '../contract/json/raw-number.ts';
import { type Fault, fault } from '../reasons/causes.ts';
import { INT64_MAX } from './java-scalars.ts';
import { byteMember, flagMember, idMember, nameMember, textMember } from './members.ts';
import { nodeTypeOf } from './node-types.ts';
import { Unusable } from './reading.ts';
import { windowMember } from './time-window.ts';

const MAX_CHILDREN = 10_000;
const DELETED = -1n;
const MAX_ERROR_STATE = 3n;

export type FileKind = 'rule' | 'node';

/** Other files that say that they are this one: this one counts. */
export const noRivals: readonly Fault[] = [];

/** One node as its file says. */
export type RuleNode = ReturnType<typeof readNode>;

/** Reads a node's file. `named`: what the file's name says. Throws an error saying what is wrong with it. */
export function readNode(object: ExactObject, named?: bigint) {
  const number = byteMember(object, 'type');
  const type = nodeTypeOf(number);
  const status = byteMember(object, 'status');
  const errorState = byteMember(object, 'errorState');
  const confField = textMember(object, 'confField');
  const problems = problemOfStatus(status);
  if (type.name === 'Unknown')
    problems.push(number === null ? fault('no-type', {}) : fault('unknown-type', { type: `${number}` }));
  if (errorState !== null && (errorState < 0n || errorState > MAX_ERROR_STATE))
    problems.push(fault('unknown-error-state', { errorState: `${errorState}` }));
  const sonIds = childrenOf(textMember(object, 'sonIds'), problems);
  // Clients link children to relations only.
  if (type.leaf && sonIds.length > 0) problems.push(fault('leaf-with-children', {}));
  return {
    id: idIn(object, 'node', named),
    name: nameMember(object),
    type,
    /** Its class, empty where it has none. */
    confName: textMember(object, 'confName'),
    confField,
    /** The values that `confField` configures, numbers as they were written; none where it is no JSON object. */
    values: valuesOf(confField, problems),
    /** Empty for a leaf, whatever its file says. */
    sonIds: type.leaf ? [] : sonIds,
    forwardId: idMember(object, 'forwardId'),
    inverse: flagMember(object, 'inverse'),
    errorState,
    timeWindow: windowMember(object),
    status,
    /** What is wrong with it though it can be drawn. */
    problems,
    rivals: noRivals,
  };
}

/** The name of a node: its label, else its class's short name. */
export const nodeNameOf = ({ name, confName }: RuleNode): string => name ?? shortNameOf(confName);

/** A class's name without its package, as the Java SDK writes it in traces. */
export function shortNameOf(clazz: string): string {
  return clazz.slice(Math.max(clazz.lastIndexOf('.'), clazz.lastIndexOf('$')) + 1);
}

/** The id of a file. The file's name decides: a file that says otherwise is refused. */
export function idIn(object: ExactObject, kind: FileKind, named?: bigint): bigint {
  const id = idMember(object, 'id') ?? named;
  if (id === undefined) throw new Unusable(fault('no-id', {}));
  if (named !== undefined && id !== named) throw new Unusable(saysItIs(kind, id));
  return id;
}

/** The reason why a file does not count that is named otherwise than by the id in it. */
export const saysItIs = (kind: FileKind, id: bigint): Fault => fault(`says-${kind}`, { id: `${id}` });

/** Whether a file stands for something released: as in the Java SDK one without a status does not. */
export const isReleased = ({ status }: { status: bigint | null }) => status !== null && status !== DELETED;

/** Whether all clients but those of Python leave it out. */
export const isDeleted = ({ status }: { status: bigint | null }) => status === DELETED;

export const problemOfStatus = (status: bigint | null): Fault[] => (status === null ? [fault('no-status', {})] : []);

function childrenOf(sonIds: string, problems: Fault[]): bigint[] {
  const parts = sonIds.trim() === '' ? [] : sonIds.split(',');
  if (parts.length > MAX_CHILDREN) throw new Unusable(fault('too-many-children', { most: MAX_CHILDREN }));
  const wrong = parts.filter((part) => idOf(part) === undefined);
  const shown = wrong.slice(0, 3).map((part) => JSON.stringify(part.slice(0, 40)));
  const found = [...shown, ...(wrong.length > 3 ? ['…'] : [])].join(', ');
  if (wrong.length > 0) problems.push(fault('children-no-ids', { found }));
  if (parts.some((part) => part !== part.trim())) problems.push(fault('children-spaced', {}));
  return parts.flatMap((part) => idOf(part) ?? []);
}

function idOf(part: string): bigint | undefined {
  const text = part.trim();
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  return id > 0n && id <= INT64_MAX ? id : undefined;
}

function valuesOf(confField: string, problems: Fault[]): ExactObject {
  if (confField.trim() === '') return {};
  try {
    const values = parseExact(confField);
    if (isExactObject(values)) return values;
    problems.push(fault('settings-no-object', {}));
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    problems.push({ ...error.fault, problem: 'settings-not-json' });
  }
  return {};
}
