import type { AnyNode, ObjectExpression } from 'acorn';
import type { FunctionNode } from '../code/syntax.ts';
import type { Field } from '../leaves/fields.ts';
import type { LeafClass, ValueType } from '../leaves/leaf.ts';
import type { OuterNames } from './values/outer-names.ts';

/*
 * The analyzer looks at a leaf's code as if it ran, without running it: it works out what each expression may be. These are its
 * types; read them first. Then, each folder knows those before it: `values` (what an expression may be), `environment` (what a
 * name means, and what a function is given), `members` (what an object has under a name), `built-ins` (what the language's own
 * functions give), `evaluation` (an expression), `walk` (a whole method: its accesses, and where the data goes out of sight).
 */

/** One piece of a key as it is published: written in the code, configured, read from another key, or all of these. */
export type KeyPart =
  | { type: 'literal'; value: string }
  | { type: 'field'; ref: string }
  | { type: 'roamDerived'; fromKey: string }
  | { type: 'composite'; parts: KeyPart[] };

/** The possible values of an expression, as far as the code tells. */
export type Thing =
  | { kind: 'service'; deep: boolean }
  /** A method of the data, `service.get`, before it is called. */
  | { kind: 'method'; name: string; deep: boolean }
  /** A function with its `this` and its first arguments. */
  | { kind: 'bound'; target: Thing; self: Thing; given: readonly (() => Thing[])[] }
  | { kind: 'leaf' }
  /** `sure`: the code alone says so, no value that could change. */
  | { kind: 'known'; value: unknown; sure?: true }
  | { kind: 'field'; field: Field }
  | { kind: 'text'; parts: KeyPart[] }
  | { kind: 'read'; key: KeyPart; type: ValueType | undefined }
  /** `closed`: these are its entries, in their places; else it has these among others, in any order. */
  | { kind: 'list'; items: Thing[]; closed?: true }
  /** An object made of others, of which the later ones count. */
  | { kind: 'merged'; parts: Thing[] }
  | { kind: 'object'; node: ObjectExpression; environment: Environment }
  | { kind: 'closure'; node: FunctionNode; environment: Environment }
  | { kind: 'unknown'; type: ValueType | undefined };

/** The arguments of a call. */
export type Call = { self: Thing; given: readonly (() => Thing[])[] };

/** The part of a function's code in which a name means what is declared there. */
export type Scope = { start: number; end: number };

/** The possible values of a name, worked out on demand. */
export type Binding = () => Thing[];

/**
 * `changed`: something is put into what the name stands for, so that more may be in it than is seen. `grown`: it is made of what
 * it was before.
 */
export type Meaning = Binding | 'changed' | 'grown' | 'moved';
/**
 * `replaces`: from here on to the end of its scope nothing that stands before it counts. `again`: where the name means this also
 * above the place: in the loop around it. Undefined: everywhere.
 */
export type Named = { scope: Scope; meaning: Meaning; at: number; replaces: boolean; again: Scope | undefined };

/** The names of one function, and where to look for the others. */
export type Environment = {
  parent: Environment | null;
  names: Map<string, Named[]>;
  /** Assignments made here to names of the code around: they may have these values too. */
  assigned: Map<string, Meaning[]>;
  /** The value of `this`. */
  self: Thing;
  /** The running function whose code this is: its outer names can be looked up. Null inside another function's code. */
  code: object | null;
  /** The object the method stands on, for `super`. */
  home: object | null;
};

/** A function that a call leads to, with its parameters bound to what it is given. `local`: it stands in the caller's code. */
export type Called = { node: FunctionNode; environment: Environment; local: boolean };

/** The leaf whose code is looked at. */
export type Subject = { leaf: LeafClass; sample: object; fields: readonly Field[]; outerNames: OuterNames };

export type Evaluator = {
  subject: Subject;
  /** The possible values of an expression; several when it depends on a condition. */
  evaluate(node: AnyNode, environment: Environment): Thing[];
  /** The possible results of calling a thing. */
  call(thing: Thing, call: Call): Thing[];
  /** The value of a thing's member. */
  member(thing: Thing, name: string): Thing[];
  /** A function ready to be looked at from the inside. */
  enter(thing: Thing, call: Call): Called[];
  /** How often each function is being looked at for what it returns. */
  returning: Map<FunctionNode, number>;
  /** Whether something was not looked at because there is too much of it. */
  gaveUp(): boolean;
};
