import { type ExecuteCall, executeBody } from '../api/executions.ts';

/** The same call for a terminal. The body stays the characters it is: single quotes keep every one of them. */
export function curlOf(call: ExecuteCall, { origin, signedIn }: { origin: string; signedIn: boolean }): string {
  const headers = [
    "-H 'content-type: application/json'",
    ...(signedIn ? ['-H "authorization: Bearer $RULE_SERVER_KEY"'] : []),
  ];
  const body = executeBody(call).replaceAll("'", "'\\''");
  return `curl -sS ${origin}/rule-server/mock/execute ${headers.join(' ')} -d '${body}'`;
}
