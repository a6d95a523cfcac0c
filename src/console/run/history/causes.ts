import type { Execution } from '../../api/executions.ts';
import { versionRan } from '../rules-of-run.ts';
import { changedInput } from './history-filter.ts';

/** In what the calls of compared runs differ, which may be why they came out differently. */
type Causes = {
  /** The changes from the input of the first run to that of another; null where all had the same, or it is not known. */
  input: string | null;
  /** The versions of the rules; null where all ran on the same rules, or nobody knows. */
  rules: string | null;
  /** The clients; null where all ran on one. */
  clients: string | null;
};

const MAX_NAMED = 4;

export function causesOf(executions: readonly Execution[]): Causes {
  const [first, ...others] = executions;
  const changes = others.map((other) => changedInput(first?.input ?? null, other.input));
  const digests = different(executions.map(({ record }) => record.rules?.digest ?? null));
  const versions = different(executions.map(({ record }) => versionRan(record.rules)));
  const clients = different(executions.map(({ record }) => record.address));
  return {
    input: changes.find((change) => change !== null) ?? null,
    rules: digests.length > 1 ? versions.join(', ') : null,
    clients: clients.length > 1 ? named(clients) : null,
  };
}

const different = (all: readonly (string | null)[]) => [...new Set(all.filter((one) => one !== null))];

function named(all: readonly string[]): string {
  return all.length > MAX_NAMED ? `${all.slice(0, MAX_NAMED).join(', ')}, …` : all.join(', ');
}
