import { type Fault, membersGiven, readAnswer } from '../../../shared/contract/client-files.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { outcomeOf } from '../../../shared/contract/endings/outcome-of-rule.ts';
import type { Outcome } from '../../../shared/contract/job.ts';
import { joinMembers, parseExact } from '../../../shared/contract/json/exact-json.ts';
import type { Member } from '../../../shared/contract/json/json-tokens.ts';
import { decodeUtf8 } from '../../../shared/contract/json/utf8.ts';
import { type ToldRules, toldRulesSchema } from '../../../shared/contract/rules-of-run.ts';
import { time } from '../../../shared/ports/time.ts';
import type { Dialect } from '../dialects/dialects.ts';

const MAX_RULES = 200;
/** As much of a text that is no result is kept, in bytes. */
const MAX_WRITTEN = 4096;

/** The judgement on the bytes of a result file: an answer, the beginning of one, or something no further byte can make one. */
export type Judgement =
  | {
      kind: 'answer';
      body: string;
      success: boolean;
      outcome: Outcome | null;
      error: string | null;
      rules: ToldRules | null;
      isDry: boolean;
      showsRun: boolean;
    }
  | { kind: 'incomplete'; fault: Fault }
  /** `clientDied`: clients whose process ends while it runs a rule leave this. `written`: the beginning of the text. */
  | { kind: 'wrong'; fault: Fault; clientDied?: true; written?: string };

/** Judges a result file. The answer keeps every value as the client wrote it and has all six members of the interface. */
export function judgeResult(bytes: Uint8Array, mockId: string, dialect: Dialect): Judgement {
  const judgement = judge(bytes, mockId, dialect);
  if (judgement.kind !== 'wrong') return judgement;
  const decoded = decodeUtf8(bytes.subarray(0, MAX_WRITTEN));
  return decoded.kind === 'wrong' ? judgement : { ...judgement, written: decoded.text };
}

function judge(bytes: Uint8Array, mockId: string, { dataField }: Dialect): Judgement {
  const read = readAnswer(bytes, { mockId, dataField });
  return read.kind === 'read' ? completed(read.members, mockId, dataField) : read;
}

function completed(members: Member[], mockId: string, dataField: string): Judgement {
  const given = membersGiven(members);
  const isSuccess = given.get('success')?.raw === 'true';
  const answer = new Map<string, string>();
  for (const { key, raw } of members) {
    if (key === dataField) answer.set(DATA_FIELD, raw);
    else if (key !== DATA_FIELD) answer.set(key, raw);
  }
  const complete = (key: string, fallback: string) => {
    const raw = answer.get(key);
    if (raw === undefined || raw === 'null') answer.set(key, fallback);
  };
  complete('mockId', JSON.stringify(mockId));
  complete(DATA_FIELD, '{}');
  complete('process', 'null');
  complete('error', 'null');
  complete('executeAt', String(time.now()));
  const told = {
    outcome: outcomeOf(given.get('process'), given.get('outcome')),
    error: textOf(given.get('error')),
    rules: rulesOf(given.get('rules')),
  };
  const isDry = given.get('dryRun')?.raw === 'true';
  const showsRun = isSuccess || isSomething(given.get('process'));
  return { kind: 'answer', body: joinMembers(answer), success: isSuccess, ...told, isDry, showsRun };
}

/** Whether a trace has an entry: something ran. */
const isSomething = (process: Member | undefined): boolean =>
  process !== undefined && !['""', '[]'].includes(process.raw);

function textOf(member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null;
  const text: unknown = JSON.parse(member.raw);
  return typeof text === 'string' && text !== '' ? text : null;
}

/** A client may say more than we ask for: what is no answer to this question is nothing. */
function rulesOf(member: Member | undefined): ToldRules | null {
  if (member?.kind !== 'object' || member.raw.length > MAX_RULES) return null;
  return toldRulesSchema.safeParse(parseExact(member.raw)).data ?? null;
}
