import { hasUnseen } from '../../shared/contract/json/visible-text.ts';
import { pickUpFiles } from '../../shared/contract/pick-up-files.ts';

/** Every name this service reads or writes below the shared directory. A mockId is a UUID, so names cannot collide. */
export const requestFileName = (mockId: string) => `${mockId}.json`;
export const resultFileName = (mockId: string) => `${mockId}_result.json`;
/** Clients take any .json and some any *.json*, so a request in the making is neither. */
export const temporaryFileName = (mockId: string, attempt: string) => `.${mockId}.${attempt}.tmp`;
/** A request that was taken back. */
export const withdrawnFileName = (mockId: string) => temporaryFileName(mockId, 'withdrawn');
/** Lies in a registered client's directory while its execution is open: upstream cleaners remove empty directories. */
export const openFileName = (mockId: string) => `.${mockId}.open`;
/** Lies in a directory that a worker made for an address without a registration, until a client picks something up from it. */
export const MADE_BY_US = '.made-by-rule-server';

const MOCK_ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Request, result, temporary file, mark, and the drafts of results: those of the published SDKs, and those of the Node SDK. */
const OUR_FILE = new RegExp(
  `^(?:${MOCK_ID}(?:_result)?\\.json|\\.${MOCK_ID}\\.(?:open|\\w+\\.tmp)|${MOCK_ID}_result\\.json\\.tmp|\\.${MOCK_ID}_result\\.json\\.[0-9a-f]+\\.tmp)$`,
);
const OPEN_MARK = new RegExp(`^\\.(${MOCK_ID})\\.open$`);
const EVENT = new RegExp(`^(${MOCK_ID})(_result)?\\.json$`);

/** Whether a file belongs to an execution of ours. */
export function isOurFile(name: string): boolean {
  return OUR_FILE.test(name);
}

/** The execution that a file shows to be open: its request, or its mark. */
export function openExecutionOf(name: string): string | undefined {
  const file = readFileName(name);
  return file?.kind === 'request' ? file.mockId : OPEN_MARK.exec(name)?.[1];
}

/** The execution a request or result file belongs to. */
export function readFileName(name: string): { mockId: string; kind: 'request' | 'result' } | undefined {
  const match = EVENT.exec(name);
  return match?.[1] ? { mockId: match[1], kind: match[2] ? 'result' : 'request' } : undefined;
}

// Put together without `path.join`, which takes a microsecond for what is asked some twenty times a call.
export const mockDirectory = (sharedDir: string, app: number) => `${sharedDir}/mock/${app}`;
/** The directory of one client, in which requests and results lie. */
export const directoryOfClient = (sharedDir: string, client: { app: number; directoryName: string }) =>
  `${sharedDir}/mock/${client.app}/${client.directoryName}`;
export const clientsDirectory = (sharedDir: string, app: number) => `${sharedDir}/clients/${app}`;

const MAX_APP = 2_147_483_647;
/** The apps among the names in a folder. */
export const appsIn = (names: readonly string[]): number[] =>
  names.filter((name) => /^[1-9]\d{0,9}$/.test(name) && Number(name) <= MAX_APP).map(Number);

export const privateDirectory = (sharedDir: string) => `${sharedDir}/.rule-server`;
/** What workers know of when the clients of an app picked up their requests. */
export const pickUpsDirectory = (sharedDir: string, app: number | string) =>
  `${privateDirectory(sharedDir)}/${pickUpFiles.folder}/${app}`;

/** The file a registered client keeps while it lives. */
export function registrationPath(
  sharedDir: string,
  client: { app: number; lane: string | null; directoryName: string },
): string {
  const lane = client.lane === null ? '' : `/lane/${client.lane}`;
  return `${clientsDirectory(sharedDir, client.app)}${lane}/m_${client.directoryName}.json`;
}

/** An address without a registration must be one plain path segment, visible, not too long. */
export function isPlainName(name: string): boolean {
  return isSegment(name) && Buffer.byteLength(name) <= 200 && !name.includes('..') && !name.includes('\\');
}

/**
 * The directory of a registered client may have any visible path segment as its name that leaves room for a file name's
 * prefix.
 */
export function isSegment(name: string): boolean {
  return (
    name !== '' && !name.startsWith('.') && !name.includes('/') && !hasUnseen(name) && Buffer.byteLength(name) <= 240
  );
}
