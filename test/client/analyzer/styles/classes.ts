import type { Data } from '../../../../src/client/engine/data/data.ts';
import type { LeafClass } from '../../../../src/client/leaves/leaf.ts';
import { quick, type Style } from './style.ts';

class Wrapper {
  readonly service: Data;
  constructor(service: Data) {
    this.service = service;
  }
  get(key: string) {
    return this.service.get(key);
  }
}
/** What compilers make of a decorated method. */
function logged<A extends unknown[], R>(method: (...given: A) => R) {
  return function (this: unknown, ...given: A): R {
    return method.apply(this, given);
  };
}
// biome-ignore lint/complexity/noStaticOnlyClass: this is the way of writing under test
class Keys {
  static readonly first = 'a';
  static of(name: string) {
    return `p.${name}`;
  }
}
class Repository {
  prefix = 'p.';
  levelOf(service: Data) {
    return service.get(`${this.prefix}level`);
  }
}
const repository = new Repository();
abstract class Template {
  abstract key(): string;
  doFlow(service: Data): boolean {
    return service.get(this.key()) === 1;
  }
}
const withDependencies = (keys: readonly string[]): LeafClass =>
  class {
    doNone(service: Data): void {
      for (const key of keys) service.get(key);
    }
  };
const mixedIn = (Base: typeof Plain) =>
  class extends Base {
    override doNone(service: Data): void {
      super.doNone(service);
      service.get('mixed');
    }
  };
class Plain {
  doNone(service: Data): void {
    service.get('plain');
  }
}

/** Ways to write the class of a leaf. */
export const classStyles: readonly Style[] = [
  quick('a static member', ['a', 'p.b'], (s) => void (s.get(Keys.first) ?? s.get(Keys.of('b')))),
  quick('a helper that is an instance', ['p.level'], (s) => void repository.levelOf(s)),
  { style: 'a leaf made with its dependencies', keys: ['a', 'b'], leaf: withDependencies(['a', 'b']) },
  { style: 'a mixin', keys: ['mixed', '?'], leaf: mixedIn(Plain) },
  {
    style: 'a template method',
    keys: ['a'],
    leaf: class extends Template {
      key(): string {
        return 'a';
      }
    },
  },
  {
    style: 'a method of the ancestor by its prototype',
    keys: ['plain', 'a'],
    leaf: class extends Plain {
      override doNone(service: Data): void {
        Plain.prototype.doNone.call(this, service);
        service.get('a');
      }
    },
  },
  {
    style: 'a static member of the own class',
    keys: ['a'],
    leaf: class Own {
      static readonly key = 'a';
      doNone(service: Data): void {
        service.get(Own.key);
      }
    },
  },
  {
    style: 'a computed method name',
    keys: ['a'],
    leaf: class {
      // biome-ignore lint/complexity/useLiteralKeys: this is the way of writing under test
      ['doNone'](service: Data): void {
        service.get('a');
      }
    },
  },
  {
    style: 'an async method',
    keys: ['a', 'b', '{key}'],
    leaf: class {
      key = 'k';
      async doNone(service: Data): Promise<void> {
        await service.get('a');
        for (const key of ['b']) await service.get(key);
        service.get(this.key);
      }
    },
  },
  {
    style: 'fields taken out of this',
    keys: ['{key}', 'p.{key}'],
    leaf: class {
      key = 'a';
      doNone(service: Data): void {
        const { key } = this;
        service.put(`p.${key}`, service.get(key));
      }
    },
  },
  {
    style: 'this in a name of its own',
    keys: ['{key}'],
    leaf: class {
      key = 'a';
      doNone(service: Data): void {
        const read = () => service.get(this.key);
        read();
      }
    },
  },
  {
    style: 'a parameter taken apart',
    keys: ['a.b'],
    leaf: class {
      doNone({ deep }: Data): void {
        deep.get('a.b');
      }
    },
  },
  {
    style: 'a private field',
    keys: ['?'],
    leaf: class {
      readonly #key = 'a';
      doNone(service: Data): void {
        service.get(this.#key);
      }
    },
  },
  {
    style: 'a private field that is assigned',
    keys: ['a', '?'],
    leaf: class {
      #key = '';
      afterPropertiesSet(): void {
        this.#key = 'a';
      }
      doNone(service: Data): void {
        service.get(this.#key);
      }
    },
  },
  {
    style: 'a field set in the constructor',
    keys: ['a'],
    leaf: class {
      readonly _key: string;
      constructor() {
        this._key = 'a';
      }
      doNone(service: Data): void {
        service.get(this._key);
      }
    },
  },
  {
    style: 'a field put together once the values are set',
    keys: ['{prefix}.level'],
    leaf: class {
      prefix = 'p';
      _key = '';
      afterPropertiesSet(): void {
        this._key = `${this.prefix}.level`;
      }
      doNone(service: Data): void {
        service.get(this._key);
      }
    },
  },
  {
    style: 'a field that is assigned on the way',
    keys: ['{key}', 'b'],
    leaf: class {
      key = 'a';
      doNone(service: Data): void {
        if (service.ts > 0) this.key = 'b';
        service.get(this.key);
      }
    },
  },
  {
    style: 'a field made when it is needed',
    keys: ['p.a'],
    leaf: class {
      _key: string | undefined;
      doNone(service: Data): void {
        this._key ??= Keys.of('a');
        service.get(this._key);
      }
    },
  },
  {
    style: 'a table in the leaf',
    keys: ['x', 'y'],
    leaf: class {
      readonly _table = { a: 'x', b: 'y' };
      doNone(service: Data): void {
        for (const key of Object.values(this._table)) service.get(key);
      }
    },
  },
  {
    style: 'a configured object, two levels deep',
    keys: ['{config.from.key}'],
    leaf: class {
      config = { from: { key: 'a' } };
      doNone(service: Data): void {
        service.get(this.config.from.key);
      }
    },
  },
  {
    style: 'a configured table by a key from outside',
    keys: ['kind', 'x', '?'],
    leaf: class {
      table: Record<string, string> = { a: 'x' };
      doNone(service: Data): void {
        service.get(this.table[service.string('kind', '')] ?? 'x');
      }
    },
  },
  {
    style: 'names of a configured object',
    keys: ['?'],
    leaf: class {
      table: Record<string, string> = { a: 'x' };
      doNone(service: Data): void {
        for (const key of Object.keys(this.table)) service.get(key);
      }
    },
  },
  {
    style: 'a method by a name that is put together',
    keys: ['a'],
    leaf: class {
      readA(service: Data): void {
        service.get('a');
      }
      doNone(service: Data): void {
        this[`read${'A'}`](service);
      }
    },
  },
  {
    style: 'a method by a name from outside',
    keys: ['kind', '?'],
    leaf: class {
      readA(service: Data): void {
        service.get('a');
      }
      doNone(service: Data): void {
        const method: unknown = Reflect.get(this, service.string('kind', ''));
        if (typeof method === 'function') method.call(this, service);
      }
    },
  },
  {
    style: 'a function kept in the leaf',
    keys: ['a'],
    leaf: class {
      _later: (() => unknown) | undefined;
      doNone(service: Data): void {
        this._later = () => service.get('a');
        this._later();
      }
    },
  },
  {
    style: 'a method put on the prototype',
    keys: ['a'],
    leaf: (() => {
      class Old extends Plain {}
      Object.assign(Old.prototype, {
        doNone(service: Data): void {
          service.get('a');
        },
      });
      return Old;
    })(),
  },
  {
    style: 'another leaf that is asked',
    keys: ['plain'],
    leaf: class {
      readonly _other = new Plain();
      doNone(service: Data): void {
        this._other.doNone(service);
      }
    },
  },
  {
    style: 'another leaf that is made',
    keys: ['?'],
    leaf: class {
      doNone(service: Data): void {
        new Plain().doNone(service);
      }
    },
  },
  {
    style: 'a decorated method',
    keys: ['a'],
    leaf: class {
      doNone = logged((service: Data) => void service.get('a'));
    },
  },
  {
    style: 'errorHandle',
    keys: ['a', 'reason'],
    leaf: class {
      doFlow(service: Data): boolean {
        return service.get('a') === 1;
      }
      errorHandle(service: Data): 'TRUE' | 'FALSE' {
        return service.get('reason') === 'x' ? 'TRUE' : 'FALSE';
      }
    },
  },
  {
    style: 'a getter',
    keys: ['p.{name}'],
    leaf: class {
      name = 'n';
      get key(): string {
        return `p.${this.name}`;
      }
      doNone(service: Data): void {
        service.get(this.key);
      }
    },
  },
  {
    style: 'a private accessor that changes another member',
    keys: ['a', '?'],
    leaf: class {
      _key = 'a';
      set #kept(key: string) {
        this._key = key;
      }
      doNone(service: Data): void {
        this.#kept = 'b';
        service.get(this._key);
      }
    },
  },
  {
    style: 'a configured object',
    keys: ['{config.key}'],
    leaf: class {
      config = { key: 'a' };
      doNone(service: Data): void {
        service.get(this.config.key);
      }
    },
  },
  {
    style: 'a configured list',
    keys: ['?'],
    leaf: class {
      keys = ['a', 'b'];
      doNone(service: Data): void {
        for (const key of this.keys) service.get(key);
      }
    },
  },
  {
    style: 'a private method with a default parameter',
    keys: ['?'],
    leaf: class {
      #read(service: Data, key = 'never'): unknown {
        return service.get(key);
      }
      doNone(service: Data): void {
        this.#read(service, 'a');
      }
    },
  },
  {
    style: 'a field that is an arrow function',
    keys: ['{key}'],
    leaf: class {
      key = 'a';
      doNone = (service: Data): void => void service.get(this.key);
    },
  },
  {
    style: 'the data kept in the leaf',
    keys: ['a', '?'],
    leaf: class {
      _kept: Data | undefined;
      doNone(service: Data): void {
        this._kept = service;
        this.later();
      }
      later(): void {
        this._kept?.get('a');
      }
    },
  },
  {
    style: 'a method bound in the constructor',
    keys: ['?'],
    leaf: class {
      doNone: (service: Data) => void;
      constructor() {
        this.doNone = this.#run.bind(this);
      }
      #run(service: Data): void {
        service.get('a');
      }
    },
  },
  {
    style: 'declared keys win',
    keys: ['uid'],
    leaf: {
      leaf: class {
        doNone(service: Data): void {
          void new Wrapper(service).get('uid');
        }
      },
      reads: { uid: 'integer' },
    },
  },
];
