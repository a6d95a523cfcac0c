import type { Runtime, Session } from 'node:inspector';

/** What a name or a member holds; undefined where that is not known. */
type Held = { value: unknown } | undefined;

export type OuterNames = ReturnType<typeof openOuterNames>;

/**
 * Looks up the names that functions use from the code around them: helpers and constants of their module, and what it
 * imports. V8's inspector knows them, in this process and without stopping it; where there is no inspector, nothing is found.
 */
export function openOuterNames() {
  const scopes = new WeakMap<object, object[]>();
  let session: Session | undefined;

  function scopesOf(code: object): object[] {
    const known = scopes.get(code);
    if (known) return known;
    const found: object[] = [];
    scopes.set(code, found);
    try {
      const inspector = process.getBuiltinModule('node:inspector');
      if (!session && inspector?.Session) {
        session = new inspector.Session();
        session.connect();
      }
      if (session) collect(session, code, found);
    } catch {
      // A guess less: the keys that depend on it are published as unknown.
    }
    return found;
  }

  return {
    valueOf(code: object, name: string): Held {
      const scope = [...scopesOf(code), globalThis].find((each) => Object.hasOwn(each, name));
      return scope && readSafely(scope, name);
    },
    /** Whether a function of the module assigns the name or a member of it, so that it may have another value when the leaf runs. */
    isAssigned(code: object, name: string): boolean {
      const scope = scopesOf(code).find((each) => Object.hasOwn(each, name));
      const held = scope ? Object.keys(scope).map((each) => readSafely(scope, each)?.value) : [];
      return held.some((each) => typeof each === 'function' && assignsName(each, name));
    },
    close(): void {
      session?.disconnect();
      session = undefined;
    },
  };
}

/** A module's exports are getters wherever modules are emulated. */
export const isModule = (object: object): boolean => Reflect.get(object, Symbol.toStringTag) === 'Module';

/** A member of an object, unless it takes code of somebody to read it. */
export function memberSafely(object: object, name: string): Held {
  const descriptor = Object.getOwnPropertyDescriptor(object, name);
  return descriptor && ('value' in descriptor || isModule(object)) ? readSafely(object, name) : undefined;
}

function readSafely(object: object, name: string): Held {
  try {
    return { value: Reflect.get(object, name) };
  } catch {
    return undefined; // a module that is not through yet
  }
}

/** Searches the text of a function for an assignment to a name. A local variable of the same name counts too: that is rare, and does no harm. */
function assignsName(code: object, name: string): boolean {
  const text = Function.prototype.toString.call(code);
  if (!text.includes(name)) return false;
  const escaped = name.replaceAll('$', '\\$');
  return new RegExp(
    `(?<![\\w$.]|(?:const|let|var)\\s+)${escaped}(?:\\??\\.[\\w$]+|\\[[^\\]]*\\])*(?:\\s*(?:[-+*/%&|^?]{0,3}|<<|>>>?)=(?![=>])|\\+\\+|--|\\.(?:push|unshift|splice|pop|shift|sort|reverse|set|add|delete|clear)\\()`,
  ).test(text);
}

const TRAY = Symbol.for('rule-server.outer-names');

/** The inspector speaks of objects by ids; the objects themselves are handed over through a tray in the global object. */
function collect(session: Session, code: object, found: object[]): void {
  const tray = `globalThis[Symbol.for(${JSON.stringify(TRAY.description)})]`;
  // In its own process the inspector answers before the call returns.
  const partsOf = (objectId: string | undefined) => {
    let parts: Partial<Runtime.GetPropertiesReturnType> = {};
    if (objectId !== undefined)
      session.post('Runtime.getProperties', { objectId, ownProperties: true }, (_error, answer) => {
        parts = answer;
      });
    return parts;
  };
  Reflect.set(globalThis, TRAY, { code, found });
  try {
    session.post('Runtime.evaluate', { expression: `${tray}.code` }, (_error, { result: { objectId } }) => {
      const scopes = partsOf(objectId).internalProperties?.find(({ name }) => name === '[[Scopes]]')?.value?.objectId;
      for (const { value } of partsOf(scopes).result ?? []) {
        if (value?.objectId === undefined || value.description?.startsWith('Global')) continue;
        const functionDeclaration = `function () { ${tray}.found.push(this.object ?? this) }`;
        session.post('Runtime.callFunctionOn', { objectId: value.objectId, functionDeclaration });
      }
    });
  } finally {
    Reflect.deleteProperty(globalThis, TRAY);
  }
}
