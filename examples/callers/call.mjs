// npm install rule-server-client zod; node call.mjs http://127.0.0.1:8080 9001
import { createRuleCaller } from 'rule-server-client/http';

const [url, app] = process.argv.slice(2);
const call = { app: Number(app), ruleId: 1, data: { uid: 9007199254740993n } };
try {
  const { outcome, data } = await createRuleCaller({ url }).execute(call);
  console.log(`${outcome} ${data.uid}`);
} catch ({ message, mayHaveRun }) {
  console.error(`${message} mayHaveRun: ${mayHaveRun}`);
  process.exitCode = 1;
}
