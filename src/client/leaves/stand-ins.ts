import { didYouMean } from '../../shared/contract/nearest.ts';
import type { Data } from '../engine/data/data.ts';
import { type AnyLeaves, type Leaf, type LeafClass, type LeafDefinition, methodOf } from './leaf.ts';
import type { LeafEntry, Registry } from './registry.ts';

/** A replacement for a leaf's own code. It gets the leaf, with its configured fields, too. */
export type Mock<D = unknown> = (service: Data<D>, leaf: object) => unknown;
export type Mocks<D = unknown> = Readonly<Record<string, Mock<D>>>;

/** The leaves with some of them replaced. Throws a `TypeError` for a class or alias that is not among them. */
export function insteadOf(registry: Registry, mocks: Mocks): AnyLeaves {
  const names = registry.entries.flatMap(({ clazz, aliases }) => [clazz, ...aliases]);
  const mocked = new Map(
    Object.entries(mocks).map(([name, mock]) => {
      const entry = registry.find(name);
      if (entry === undefined) throw new TypeError(`there is no leaf ${name} to mock${didYouMean(name, names)}`);
      return [entry.clazz, mock];
    }),
  );
  return leavesOf(registry, (entry) => mocked.get(entry.clazz));
}

/** The leaves with every consequence replaced by one that does nothing but tell its name. */
export function stubsOfResults(registry: Registry, tell: (name: string) => void): AnyLeaves {
  return leavesOf(registry, ({ clazz, kind }) => {
    if (kind !== 6) return undefined;
    return () => {
      tell(clazz);
      return true;
    };
  });
}

function leavesOf(registry: Registry, mockOf: (entry: LeafEntry) => Mock | undefined): AnyLeaves {
  return Object.fromEntries(
    registry.entries.map((entry): [string, LeafDefinition] => {
      const mock = mockOf(entry);
      const { definition } = entry;
      return [
        entry.clazz,
        mock ? { ...definition, leaf: withMethod(definition.leaf, methodOf[entry.kind], mock) } : definition,
      ];
    }),
  );
}

function withMethod(leaf: LeafClass, method: string, mock: Mock): LeafClass {
  const make = (): Leaf => {
    const made = new leaf();
    // Not enumerable: it is no field that a rule could configure.
    Object.defineProperty(made, method, { value: (service: Data) => mock(service, made), enumerable: false });
    return made;
  };
  return new Proxy(leaf, { construct: make });
}
