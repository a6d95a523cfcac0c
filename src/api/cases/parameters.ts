import { z } from 'zod';
import { selectedParameters } from '../http/parameters.ts';

/** The rule or the node of the cases; without one: all cases of an app. */
export const casesParameters = z
  .object(selectedParameters)
  .refine(({ ruleId, confId }) => ruleId === null || confId === null, {
    path: ['confId'],
    error: 'must not be given beside ruleId: cases belong to a rule or to a node',
  });
