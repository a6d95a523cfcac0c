import { z } from 'zod';
import { because } from '../../shared/contract/issues.ts';
import { selectedParameters } from '../http/parameters.ts';

/** The rule or the node of the cases; without one: all cases of an app. */
export const casesParameters = z
  .object(selectedParameters)
  .refine(({ ruleId, confId }) => ruleId === null || confId === null, {
    path: ['confId'],
    ...because('rule-and-node', {}),
  });
