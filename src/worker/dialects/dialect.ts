import { iceDialect } from './ice.ts';
import { ruleDialect } from './rule.ts';

/** What a request file says, with every number as text. */
export type RequestContent = {
  mockId: string;
  app: number;
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  target: string;
  input: string;
};

/** How one kind of client writes requests and results. */
export type Dialect = {
  /** The members of a request file, in order; values are JSON text. */
  requestMembers(content: RequestContent, createAt: number): [key: string, raw: string][];
  /** The member of a result that carries the data object. */
  dataField: string;
};

export const dialects = { rule: ruleDialect, ice: iceDialect };
export type DialectName = keyof typeof dialects;
