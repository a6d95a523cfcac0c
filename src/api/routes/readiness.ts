import { Hono } from 'hono';
import { readinessSchema } from '../../shared/contract/readiness.ts';
import { formatTarget } from '../../shared/contract/target.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { readinessOf } from '../../shared/reasoning/readiness.ts';
import { needs, refusedApp } from '../access/authenticate.ts';
import type { Environment } from '../http/environment.ts';
import { readinessParameters, readParameters } from '../http/parameters.ts';
import { badRequest, json, respondToRefusal } from '../http/respond.ts';
import { createReadiness } from '../readiness/readiness.ts';

/** Whether the rules of an app can be released to a target. Nothing runs. */
export function readinessRoute(dependencies: Parameters<typeof createReadiness>[0]) {
  const readiness = createReadiness(dependencies);
  return new Hono<Environment>().get('/readiness', needs('read'), async (context) => {
    const read = readParameters(readinessParameters, context);
    if (read.kind === 'bad') return badRequest(read.problems);
    const { app, target } = read.value;
    const notIts = refusedApp(context, app);
    if (notIts) return notIts;
    const answer = await readiness(read.value);
    if (answer.kind === 'refused') return respondToRefusal(answer);
    const { rules } = answer;
    const state = rules.length === 0 ? 'not-tested' : readinessOf(rules.flatMap(({ findings }) => findings));
    return json(200, printAs(readinessSchema, { app, target: formatTarget(target), state, rules }));
  });
}
