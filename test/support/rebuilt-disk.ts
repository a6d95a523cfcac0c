import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Survivors } from './lost-power.ts';
import type { Change, Journal } from './recorded-mount.ts';

type File = { kind: 'file'; mode: number; bytes: Buffer; size: number };
type Directory = { kind: 'directory'; mode: number; entries: Map<string, number> };
type Link = { kind: 'link'; target: string };
/** A socket, for instance: it says nothing once its process is gone. */
type Other = { kind: 'other' };
type Node = File | Directory | Link | Other;

/** The files after the changes that survived. */
export type RebuiltDisk = {
  /** Writes what is below a path of the disk into a directory, which must not be there yet. */
  writeTo(directory: string, path?: string): Promise<void>;
  /** The names in a directory. */
  names(path: string): string[];
};

export function rebuildDisk({ changes, data }: Journal, { changes: kept, torn }: Survivors): RebuiltDisk {
  const nodes = new Map<number, Node>([[0, { kind: 'directory', mode: 0o755, entries: new Map() }]]);
  for (const change of changes) if (change.op === 'make') nodes.set(change.node, emptyNode(change));
  for (const at of kept) {
    const change = changes[at];
    if (change) apply(nodes, change, data, torn?.at === at ? torn.bytes : undefined);
  }
  const at = (path: string) =>
    path
      .split('/')
      .filter(Boolean)
      .reduce<Node | undefined>((node, name) => {
        const entry = node?.kind === 'directory' ? node.entries.get(name) : undefined;
        return entry === undefined ? undefined : nodes.get(entry);
      }, nodes.get(0));
  return {
    async writeTo(directory, path = '') {
      const node = at(path);
      if (node) await write(nodes, node, directory);
    },
    names(path) {
      const node = at(path);
      return node?.kind === 'directory' ? [...node.entries.keys()] : [];
    },
  };
}

function emptyNode({ kind, mode, target = '' }: Change & { op: 'make' }): Node {
  if (kind === 'file') return { kind, mode, bytes: Buffer.alloc(0), size: 0 };
  if (kind === 'directory') return { kind, mode, entries: new Map() };
  return kind === 'link' ? { kind, target } : { kind };
}

function apply(nodes: Map<number, Node>, change: Change, data: Buffer, most = Number.POSITIVE_INFINITY): void {
  const entriesOf = (number: number) => {
    const node = nodes.get(number);
    return node?.kind === 'directory' ? node.entries : undefined;
  };
  if (change.op === 'move' && entriesOf(change.before)?.get(change.oldName) === change.node)
    entriesOf(change.before)?.delete(change.oldName);
  if (change.op === 'make' || change.op === 'link' || change.op === 'move')
    entriesOf(change.parent)?.set(change.name, change.node);
  else if (change.op === 'remove' && entriesOf(change.parent)?.get(change.name) === change.node)
    entriesOf(change.parent)?.delete(change.name);
  const node = 'node' in change ? nodes.get(change.node) : undefined;
  if (change.op === 'mode' && node && 'mode' in node) node.mode = change.mode;
  if (node?.kind !== 'file') return;
  if (change.op === 'size') resize(node, change.size);
  if (change.op !== 'write') return;
  const length = Math.min(change.length, most);
  if (length === 0) return;
  resize(node, Math.max(node.size, change.offset + length));
  data.copy(node.bytes, change.offset, change.start, change.start + length);
}

/** What lies between the end of before and the new one is zeros. */
function resize(file: File, size: number): void {
  if (size < file.size) file.bytes.fill(0, size, file.size);
  if (size > file.bytes.length) {
    const bytes = Buffer.alloc(2 * size);
    file.bytes.copy(bytes);
    file.bytes = bytes;
  }
  file.size = size;
}

async function write(nodes: Map<number, Node>, node: Node, path: string): Promise<void> {
  if (node.kind === 'file') await writeFile(path, node.bytes.subarray(0, node.size), { mode: node.mode });
  if (node.kind === 'link') await symlink(node.target, path);
  if (node.kind !== 'directory') return;
  await mkdir(path, { recursive: true, mode: node.mode });
  for (const [name, number] of node.entries) {
    const entry = nodes.get(number);
    if (entry) await write(nodes, entry, join(path, name));
  }
}
