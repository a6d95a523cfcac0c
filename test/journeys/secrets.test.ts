import { describe, expect, it } from 'vitest';
import {
  answers,
  answersWith,
  type Behaviour,
  createResponder,
  errs,
  picksUpAndStaysSilent,
} from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

describe('what a rule is given and what it answers', () => {
  it('is never in a log, however the execution ends', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 2500 } });
    const secret = 'secret-4711';
    const endings: Behaviour[] = [
      answers({ 'the service': { secret }, process: secret }),
      errs(secret),
      answersWith(`{"success":"${secret}"}`),
      answersWith(`{"mockId":"${secret}","success":true}`),
      answersWith(secret),
      answersWith(`{"success":true,"${secret}":1,"${secret}":2}`),
      picksUpAndStaysSilent,
    ];
    const input = { app: 0, ruleId: 1, 'the service': { secret, [secret]: [secret] } };
    await Promise.all(
      endings.map(async (does, index) => {
        const app = index + 1;
        await using client = await createResponder({ sharedDir: service.sharedDir, app, does });
        await service.execute({ ...input, app });
        expect(client.found[0]?.text).toContain(secret);
      }),
    );
    await service.execute({ ...input, app: 'x' });
    await service.execute(`{"app":1,"ruleId":1,"the service":{"${secret}":${secret}}}`);
    await service.execute({ ...input, app: 99 });
    expect(service.log.filter(({ msg }) => msg === 'request')).toHaveLength(endings.length + 3);
    expect(service.log.filter((line) => JSON.stringify(line).includes(secret))).toEqual([]);
  });
});
