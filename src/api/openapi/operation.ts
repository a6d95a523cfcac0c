import type { z } from 'zod';
import type { Permission } from '../../shared/runtime/access/caller.ts';
import { PROBLEM_TYPE } from '../../shared/runtime/http-refusals.ts';

export const PROBLEM = PROBLEM_TYPE;

/**
 * One documented answer. `examples` by name; `mediaType` is JSON unless it says otherwise. `problems`: examples of refusals
 * as problem+json that have the same status.
 */
export type AnswerDoc = {
  description: string;
  mediaType?: string;
  /** Other forms the same answer has, as text. */
  otherMediaTypes?: string[];
  schema?: z.ZodType;
  /** Other forms of the answer that have a schema, by media type. */
  alternatives?: Record<string, z.ZodType>;
  examples?: Record<string, unknown>;
  problems?: Record<string, unknown>;
  headers?: Record<string, string>;
};

/** An answer in JSON, with its examples by name. */
export const answer = (description: string, schema: z.ZodType, examples: Record<string, unknown>): AnswerDoc => ({
  ...{ description, schema, examples },
});

/** `needed`: without it the request is refused. */
export type HeaderDoc = { name: string; description: string; schema: z.ZodType; example: string; needed?: true };

/** One operation of the interface as its description tells it. `open`: it needs no key. */
export type Operation = {
  method: 'get' | 'put' | 'post' | 'delete';
  path: string;
  id: string;
  tag: 'Execute' | 'Executions' | 'Batches' | 'Saved cases' | 'Rules and clients' | 'Service';
  summary: string;
  description?: string;
  open?: boolean;
  /** The permission its key must have; without one any key will do. */
  needs?: Permission;
  query?: z.ZodObject;
  queryExample?: Record<string, string | number>;
  headers?: HeaderDoc[];
  /** `mediaType` is JSON unless it says otherwise. */
  body?: { schema: z.ZodType; examples: Record<string, unknown>; mediaType?: string };
  answers: Record<number, AnswerDoc>;
};
