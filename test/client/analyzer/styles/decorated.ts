import type { Data } from '../../../../src/client/engine/data/data.ts';
import type { Style } from './style.ts';

type Method<A extends unknown[], R> = (this: unknown, ...given: A) => R;

function logged<A extends unknown[], R>(method: Method<A, R>, _context: ClassMethodDecoratorContext): Method<A, R> {
  return function (this: unknown, ...given: A): R {
    return method.apply(this, given);
  };
}
function named(name: string) {
  return <A extends unknown[], R>(method: Method<A, R>, _context: ClassMethodDecoratorContext): Method<A, R> =>
    Object.defineProperty(method, 'name', { value: name });
}
function marked(target: new () => object, _context: ClassDecoratorContext): void {
  Object.defineProperty(target, 'marked', { value: true });
}

class WithMethod {
  key = 'k';
  @logged
  doNone(service: Data): void {
    service.get('a');
    service.get(this.key);
  }
}
class WithFactory {
  @named('read')
  doNone(service: Data): void {
    service.get('a');
  }
}
@marked
class WithClass {
  doNone(service: Data): void {
    service.get('a');
  }
}

/** Leaves with decorators, which only compilers can read. */
export const styles: readonly Style[] = [
  { style: 'a decorated method', keys: ['a', '{key}'], leaf: WithMethod },
  { style: 'a decorator that is given something', keys: ['a'], leaf: WithFactory },
  { style: 'a decorated class', keys: ['a'], leaf: WithClass },
];
