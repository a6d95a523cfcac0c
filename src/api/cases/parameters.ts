import { z } from 'zod';
import { selectedParameters } from '../http/parameters.ts';

/** Whose cases are meant; without a rule and a node: which an app has. */
export const casesParameters = z
  .object(selectedParameters)
  .refine(({ ruleId, confId }) => ruleId === null || confId === null, {
    path: ['confId'],
    error: 'must not be given beside ruleId: cases belong to a rule or to a node',
  });
