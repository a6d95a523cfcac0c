import { appendFile, mkdir, rename, rmdir, stat, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { compareData } from '../../shared/cases/judging/compare.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { field, flag } from '../../shared/contract/json/read-exact.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { type ClientFolder, type Reply, type Sent, takeBack, takeBackFromReader } from './client-folder.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** `quietMs`: a client that has not answered after this does not answer. `input`: a JSON object as text with a member more. */
export type Playing = { folder: ClientFolder; quietMs: number; input: (value: string) => string; isDryRun: boolean };
type Case = { name: string; play: (name: string, playing: Playing) => Promise<Finding> };

const WHOLE_DATA = 'Answer with the whole data: the input, with what the rule set or changed, every value as it came.';
const TAKE_FIRST =
  'Delete the request before you run it, and run it only if the deletion succeeded: if the file is gone, it was taken back.';
const EXACT_JSON = 'Read and write it with a JSON library that keeps integers of 64 bits.';

/** The order matters: the last ones change the directory. */
export const cases: readonly Case[] = [
  {
    name: 'exact numbers',
    play: echoes('[9007199254740993,-9223372036854775808,9223372036854775807,120.10,0.1,-0.5e-3]', EXACT_JSON),
  },
  {
    name: 'text',
    play: echoes(
      String.raw`{"名前":"Grüße \"𝄞😀\" \\ \/ \n\t\r \u0000\u2028é","":"'$(x)\u0060%s%d"}`,
      'Read and write the files as JSON in UTF-8.',
    ),
  },
  {
    name: 'layout',
    play: echoes(
      '{\n  "a" : [ 1,\r\n\t2 ] ,\n  "b" : { }\n}',
      'Spaces and line ends may stand between any two values: read the request as JSON.',
    ),
  },
  {
    name: 'alike names',
    play: echoes(
      '{"mockId":"x","target":"all","the service":{"success":false},"text":",\\"target\\":{}"}',
      'Take the members from the top of the request: the input may have members of the same names.',
    ),
  },
  {
    name: 'long input',
    play: echoes(
      `{"text":"${'long '.repeat(40_000)}","list":[${Array.from({ length: 20_000 }, (_, n) => n).join(',')}]}`,
      'Inputs have up to MAX_BODY_BYTES (1 MiB).',
    ),
  },
  { name: 'several at once', play: severalAtOnce },
  { name: 'being written', play: beingWritten },
  { name: 'others', play: leavesOthers },
  { name: 'taken back', play: takenBack },
  { name: 'no request', play: survivesNonsense },
  { name: 'dry run', play: dryRun },
  { name: 'once', play: once },
  { name: 'directory', play: directoryAgain },
];

/** The very first request. Nothing else is tried where it is not answered. */
export async function playFirst({
  folder,
  input,
}: Pick<Playing, 'folder' | 'input'>): Promise<{ reply: Reply; finding: Finding }> {
  const sent = await folder.send({ data: input('1') });
  const reply = await folder.replyTo(sent);
  return { reply, finding: judged('answer', reply, sent) };
}

/** Judges the files that the client made during all cases. */
export function judgeFiles({ folder }: Playing): Finding[] {
  const [unfinished, strange] = [folder.unfinished(), folder.strange()];
  return [
    unfinished.length === 0
      ? ok('complete', 'results are whole when they appear')
      : fail(
          'complete',
          `${unfinished.length} results appeared before they were whole`,
          'Write the result under another name that does not end in .json, then rename it.',
        ),
    strange.length === 0
      ? ok('names', 'no other file ends in .json')
      : fail(
          'names',
          `${strange.slice(0, 3).join(', ')} appeared`,
          'A name that ends in .json is a request or a result: give a file in the making another ending.',
        ),
  ];
}

function echoes(value: string, advice: string): Case['play'] {
  return async (name, { folder, input }) => {
    const sent = await folder.send({ data: input(value) });
    return judged(name, await folder.replyTo(sent), sent, advice);
  };
}

async function severalAtOnce(name: string, { folder, input }: Playing): Promise<Finding> {
  const sent = await Promise.all(Array.from({ length: 10 }, (_, n) => folder.send({ data: input(`${n}`) })));
  const findings = await Promise.all(sent.map(async (one) => judged(name, await folder.replyTo(one), one)));
  return findings.find(({ level }) => level === 'fail') ?? ok(name, '10 requests, each with its own answer');
}

/** Requests appear complete, by a rename; a file under another name is not a request yet. */
async function beingWritten(name: string, { folder, quietMs, input }: Playing): Promise<Finding> {
  const { temporary, text, ...sent } = await folder.prepare({ data: input('"whole"') });
  await writeFile(temporary, text.slice(0, text.length / 2));
  await delay(quietMs);
  const found = await stat(temporary).catch(unless('ENOENT'));
  if (!found || folder.hasResult(sent)) return tooEarly(name);
  await appendFile(temporary, text.slice(text.length / 2));
  await rename(temporary, sent.path);
  return judged(name, await folder.replyTo(sent), sent);
}

/** Results, and the markers of workers, are not the client's. */
async function leavesOthers(name: string, { folder, quietMs }: Playing): Promise<Finding> {
  const mockId = folder.decoy();
  const names = [`${mockId}_result.json`, `.${mockId}.open`];
  for (const each of names) await writeFile(folder.at(each), each.startsWith('.') ? '' : '{"success":true}');
  await delay(quietMs);
  for (const each of names) {
    const left = await stat(folder.at(each)).catch(unless('ENOENT'));
    if (!left)
      return fail(
        name,
        `${each.replace(mockId, '{mockId}')} was removed`,
        'Touch only requests, and results of your own.',
      );
  }
  if (await stat(folder.at(`${mockId}_result_result.json`)).catch(unless('ENOENT')))
    return fail(name, 'a result was taken for a request', 'Pass over every name that ends in _result.json.');
  return ok(name, 'results and markers are left alone');
}

const TAKEN_BACK = { provoked: 3, tries: 20 };

/** A worker withdraws a request that nobody took (cancelled or too late) and reports that the rule did not run, so the client must not run it. */
async function takenBack(name: string, playing: Playing): Promise<Finding> {
  const { folder, quietMs, input } = playing;
  // A file system may have no pipes.
  const piped = await takeBackFromReader(folder, { data: input('"back"') }, quietMs).catch(() => null);
  const read = piped?.wasRead ? piped : null;
  if (read && !read.isBack) {
    const reply = await folder.replyTo(read.sent);
    if (reply.kind !== 'answered') return judged(name, reply, read.sent);
  }
  const { back, isSure } = read ? { back: read.isBack ? [read.sent] : [], isSure: true } : await takeBackOften(playing);
  await delay(quietMs);
  if (back.some(folder.hasResult)) return fail(name, 'a request that was taken back was run', TAKE_FIRST);
  if (!isSure) return warn(name, 'the moment between reading and deleting could not be met', TAKE_FIRST);
  return ok(name, 'a request that is gone when it should be deleted is not run');
}

/** Without pipes it depends on timing. */
async function takeBackOften({ folder, quietMs, input }: Playing): Promise<{ back: Sent[]; isSure: boolean }> {
  const back: Sent[] = [];
  let provoked = 0;
  for (let round = 0; round < TAKEN_BACK.tries && provoked < TAKEN_BACK.provoked; round++) {
    const { sent, isBack, wasRead } = await takeBack(folder, { data: input(`"${'back '.repeat(180_000)}"`) }, quietMs);
    if (isBack) back.push(sent);
    else await folder.replyTo(sent);
    if (isBack && wasRead) provoked++;
  }
  return { back, isSure: provoked > 0 };
}

async function survivesNonsense(name: string, { folder, quietMs, input }: Playing): Promise<Finding> {
  const mockId = folder.decoy();
  await writeFile(folder.at(`.${mockId}.x.tmp`), `{"mockId":"${mockId}","app":`);
  await rename(folder.at(`.${mockId}.x.tmp`), folder.at(`${mockId}.json`));
  await delay(quietMs);
  const sent = await folder.send({ data: input('"after"') });
  const reply = await folder.replyTo(sent);
  const advice = 'A file that cannot be read must not end the client, nor hold up the others.';
  return reply.kind === 'silent'
    ? fail(name, 'after a file that is no JSON, no request is answered', advice)
    : judged(name, reply, sent);
}

async function dryRun(name: string, { folder, input, isDryRun }: Playing): Promise<Finding> {
  if (!isDryRun) return ok(name, 'not announced (dryRun in the registration), so none is sent');
  const sent = await folder.send({ data: input('"dry"'), dryRun: true });
  const reply = await folder.replyTo(sent);
  if (reply.kind !== 'answered' || flag(field(reply.members, 'dryRun'))) return judged(name, reply, sent);
  return fail(name, 'the answer has no "dryRun": true', 'Run without effects and say so, or do not announce dryRun.');
}

async function once(name: string, { folder, quietMs }: Playing): Promise<Finding> {
  await delay(quietMs);
  const twice = folder.answeredTwice();
  return twice === 0
    ? ok(name, 'no request was answered twice')
    : fail(name, `${twice} requests were answered twice`, TAKE_FIRST);
}

/** The published server removes a directory that is empty. */
async function directoryAgain(name: string, { folder, quietMs, input }: Playing): Promise<Finding> {
  const { mode } = await stat(folder.directory);
  await folder.clean();
  try {
    await rmdir(folder.directory);
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'ENOENT') throw error;
    if (errnoOf(error) === 'ENOTEMPTY')
      return warn(name, 'is not empty, so it could not be removed', 'Remove what lies there.');
  }
  await delay(Math.min(quietMs, 1000));
  await mkdir(folder.directory, { mode: mode & 0o7777 }).catch(unless('EEXIST'));
  const sent = await folder.send({ data: input('"again"') });
  const reply = await folder.replyTo(sent);
  const advice =
    'Another server removes empty directories and workers make them again: look into the one that is there now.';
  return reply.kind === 'silent'
    ? fail(name, 'once it was removed and made again, no request is answered', advice)
    : judged(name, reply, sent);
}

const tooEarly = (name: string): Finding =>
  fail(name, 'a request was taken before it had its name', 'Take only {mockId}.json, no file that begins with a dot.');

function judged(name: string, reply: Reply, sent: Sent, advice = WHOLE_DATA): Finding {
  switch (reply.kind) {
    case 'early':
      return tooEarly(name);
    case 'silent':
      return reply.taken
        ? fail(
            name,
            'the request was taken, and there is no result',
            'Write {mockId}_result.json, whatever becomes of the rule: a failure is "success": false.',
          )
        : fail(name, 'nobody took the request', 'Is the client running, and is this its directory?');
    case 'wrong':
      return fail(name, `the result ${reply.fault}`, 'rule-server schema answer prints what a result is.');
    case 'answered': {
      const [difference] = compareData(parseExact(sent.data), field(reply.members, DATA_FIELD) ?? {});
      if (reply.leftRequest) return fail(name, 'the request was still there when it was answered', TAKE_FIRST);
      if (difference === undefined) return ok(name, `answered after ${Math.round(reply.ms)} ms`);
      const { path, expected, actual } = difference;
      return fail(name, `"${DATA_FIELD}" has ${actual ?? 'nothing'} at ${path}, and the input ${expected}`, advice);
    }
  }
}
