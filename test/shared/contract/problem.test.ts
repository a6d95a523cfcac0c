import { expect, test } from 'vitest';
import { readProblem } from '../../../src/shared/contract/problem.ts';

test('a member that cannot be read hides no other', () => {
  const told = { code: 'overloaded', mayHaveRun: true, mockId: null, params: 'none', newer: 1 };
  expect(readProblem(JSON.stringify(told))).toEqual({ code: 'overloaded', mayHaveRun: true });
});

test('what a gateway says is no refusal of this service', () => {
  for (const body of ['<html>502</html>', '', '[]', 'null', '"busy"']) expect(readProblem(body)).toEqual({});
});
