import type { NoAnswer } from '../../../shared/contract/endings/outcomes.ts';
import { limits, refusals } from '../../../shared/contract/endings/refusals.ts';
import { resultFaults, sentences } from '../../../shared/contract/endings/sentences.ts';
import { format } from '../../../shared/reasoning/words/format.ts';

/** A text that no sentence has by itself: it marks the place of a parameter. */
const [A, B, C] = ['\uE000', '\uE001', '\uE002'];
/** The same for parameters that are numbers. */
const [N1, N2] = [900_000_000_001, 900_000_000_002];
const MARKS: Record<string, string> = { a: A, b: B, c: C, n: `${N1}`, m: `${N2}` };

const obeys = { address: A, givesUp: true };
const mayRun = { address: A, givesUp: false };
const fault = { problem: B, clientDied: false };
const place = { address: A, app: N1, directoryName: B };
const one = { mockId: B, address: A };
const RULE = { app: N1, ruleId: A, confId: null };
const NODE = { app: N1, ruleId: null, confId: A };
const [LONGER, LONGEST] = [[900_000_000_002n, 1n], Array.from({ length: 11 }, () => 900_000_000_002n)];

const UNKNOWN = '规则可能已运行；再次运行之前，请先查看客户端。';
const LATER = '请稍后再试，或启动更多工作进程（没有 Redis 时只有一个：请设置 REDIS_URL）。';
const FULL = '所有未结束调用的正文已占满允许的内存（MAX_OPEN_BODY_BYTES）。';
const SAME_KEY = '请用相同的 Idempotency-Key 再次发送：它最多运行一次。';

type Pair = readonly [english: string | NoAnswer, chinese: string];
type Table<Of> = Record<keyof Of, readonly Pair[]>;

/**
 * Each sentence of the service as it is with marks in the place of its parameters, and the same in Chinese. Of two that begin alike
 * the longer one comes first.
 */
const endings: Table<typeof sentences> = {
  tooManyWait: [[sentences.tooManyWait(N1), `已有 {n} 次执行在等待。这次没有运行。${LATER}`]],
  tooManyCalls: [
    [sentences.tooManyCalls(N1), `调用来得比工作进程能开始的更快：新的调用需要等待 {n} 秒。这次没有运行。${LATER}`],
  ],
  notSent: [[sentences.notSent(A), '队列存储{a}，所以什么都没有发送。规则没有运行。请稍后再试。']],
  bodiesFull: [[sentences.bodiesFull(), `${FULL}这次没有运行。请稍后再试，或启动更多 API。`]],
  bodiesFullForKeyed: [
    [
      sentences.bodiesFullForKeyed(),
      `${FULL}没有读取这次调用，所以不知道同一 Idempotency-Key 的先前调用是否运行过。${SAME_KEY}`,
    ],
  ],
  sceneUnknown: [],
  keysFull: [
    [
      sentences.keysFull(),
      '按 Idempotency-Key 记住的调用已占满空间（IDEMPOTENCY_BYTES）。这次没有运行。请稍后再试，或不带 Idempotency-Key 发送。',
    ],
  ],
  notesAway: [
    [
      sentences.notesAway(A),
      `队列存储{a}，所以不知道同一 Idempotency-Key 的先前调用是否运行过；这次什么都没有运行。${SAME_KEY}`,
    ],
  ],
  notesBusy: [
    [
      sentences.notesBusy(),
      `调用来得比工作进程能开始的更快，没有查询同一 Idempotency-Key 的先前调用是否运行过；这次什么都没有运行。${SAME_KEY}${LATER}`,
    ],
  ],
  notConfirmed: [[sentences.notConfirmed(A), '队列存储没有确认执行 {a}。它可能会运行；再次运行之前，请先查看客户端。']],
  stopping: [[sentences.stopping(), '这个 API 进程正在停止。调用没有运行；请再次发送，另一个进程会接手。']],
  stoppingForKeyed: [
    [
      sentences.stoppingForKeyed(),
      '这个 API 进程正在停止。这次调用什么都没有运行；没有查询同一 Idempotency-Key 的先前调用是否运行过。请用相同的 Idempotency-Key 再次发送：另一个进程会接手，它最多运行一次。',
    ],
  ],
  cancelledInQueue: [[sentences.cancelledInQueue(A), '执行 {a} 在工作进程开始之前被取消。它没有运行。']],
  cancelledInDoubt: [
    [
      sentences.cancelledInDoubt(A),
      '执行 {a} 在工作进程开始之前被取消。它仍可能运行，因为没有工作进程能排除这一点；再次运行之前，请先查看客户端。',
    ],
  ],
  noneTakes: [
    [
      sentences.noneTakes(undefined),
      '没有工作进程接受执行：没有正在运行的工作进程，或它们都无法连接队列存储。这次没有运行。请启动工作进程后再试。',
    ],
    [sentences.noneTakes(A), '没有工作进程接受执行。{a}。这次没有运行。'],
  ],
  neverTaken: [[sentences.neverTaken(A, 1), `没有工作进程及时开始发往“{a}”的这次执行：它们已满。它没有运行。${LATER}`]],
  storeWasAway: [[sentences.storeWasAway(A), `执行 {a} 等待期间队列存储不可用，之后没有工作进程再接手它。${UNKNOWN}`]],
  neverReported: [[sentences.neverReported(A, N1), `{n} 毫秒内没有工作进程报告执行 {a} 的结束。${UNKNOWN}`]],
  workerFailed: [[sentences.workerFailed(A), `工作进程处理执行 {a} 时出错；原因见其日志。${UNKNOWN}`]],
  endedInNewerForm: [
    [
      sentences.endedInNewerForm(A),
      '执行 {a} 的结束是更新的格式，这个 API 不认识。它可能已运行；请查看客户端，或询问新版本的 API。',
    ],
  ],
  answerUnreadable: [
    [sentences.answerUnreadable(A, B), '客户端 {b} 已应答执行 {a}，但无法从存储中读回应答。它已运行。'],
  ],
  answerGone: [
    [
      sentences.answerGone(one),
      '客户端 {a} 已应答执行 {b}：它已运行；应答不再保留（IDEMPOTENCY_BYTES、HISTORY_OFF）。在这个 Idempotency-Key 下不会再次运行。',
    ],
  ],
  endingUnknown: [[sentences.endingUnknown(A), `不知道执行 {a} 如何结束。${UNKNOWN}`]],
  mayBeOnItsWay: [
    [
      sentences.mayBeOnItsWay(A),
      `这个 Idempotency-Key 下的第一次执行 {a} 不在队列中，也没有工作进程能说明它是否已开始。它可能已运行。${SAME_KEY}`,
    ],
  ],
  repeatUnknown: [
    [
      sentences.repeatUnknown(A),
      `执行 {a} 由这个 Idempotency-Key 下较早的一次调用开始，队列存储丢失了它如何结束。它可能已运行，在这个键下不会再次运行；再次运行之前请查看客户端。`,
    ],
  ],
  itemUnknown: [[sentences.itemUnknown(A, B), '不知道 {a} 如何结束：{b}。它可能已运行，不会再次发送。']],
  storeLost: [[sentences.storeLost(A), `不知道执行 {a} 如何结束：保存它的存储已丢失。${UNKNOWN}`]],
  tooLate: [[sentences.tooLate(), `没有工作进程及时有空位。它没有运行。${LATER}`]],
  cancelledBeforeDispatch: [[sentences.cancelledBeforeDispatch(A), '执行 {a} 在写入请求之前被取消。它没有运行。']],
  fenced: [
    [
      sentences.fenced(A),
      '执行 {a} 在开始之前已撤回：同一调用又发送了一次，或它的时间已过。它没有运行。请用相同的 Idempotency-Key 再次发送。',
    ],
  ],
  badRequest: [],
  noClient: [
    [sentences.noClient(N1, '', A), '应用 {n} 没有在线的客户端。规则没有运行。{a}'],
    [sentences.noClient(N1, A, B), '应用 {n} 没有“{a}”的在线客户端。规则没有运行。{b}'],
  ],
  unknownClient: [[sentences.unknownClient(N1, A, B), '应用 {n} 没有客户端 {a}。规则没有运行。{b}']],
  clientOffline: [[sentences.clientOffline(A, B), '客户端 {a} 已离线。规则没有运行。{b}']],
  others: [
    [
      sentences.others([], null, true),
      '工作进程的 SHARED_DIR 中没有任何应用的客户端。请启动客户端，或在工作进程和客户端两边检查 SHARED_DIR 是否是同一个目录。',
    ],
    [sentences.others([], null), '请启动客户端，或检查它的 SHARED_DIR。'],
    [sentences.others([], A), '请启动客户端，或检查它的 SHARED_DIR。有一个注册被跳过：{a}。'],
    [sentences.others([A], B), '在线：{a}。有一个注册被跳过：{b}。'],
    [sentences.others([A], null), '在线：{a}。'],
  ],
  cycle: [
    [
      sentences.cycle(RULE, LONGER),
      '应用 {n} 的规则 {a} 有环：{m}。请把其中一个节点从它前一个节点的子节点或前置条件中移除。规则没有运行。',
    ],
    [
      sentences.cycle(NODE, LONGER),
      '应用 {n} 的节点 {a} 有环：{m}。请把其中一个节点从它前一个节点的子节点或前置条件中移除。规则没有运行。',
    ],
    [
      sentences.cycle(RULE, LONGEST),
      '应用 {n} 的规则 {a} 有环：{m}。请把其中一个节点从它前一个节点的子节点或前置条件中移除。规则没有运行。',
    ],
  ],
  cannotRunDry: [
    [
      sentences.cannotRunDry(obeys, B),
      '需要能试运行的客户端，而 {a}（SDK：{b}）不能。请用 target 指定另一个，或去掉 dryRun，真实运行规则（会产生全部副作用）',
    ],
  ],
  clientFull: [
    [
      sentences.clientFull(obeys),
      '客户端 {a} 没有空位：未结束的执行已达上限（MAX_WAITS_PER_CLIENT），或这个 API 密钥已占满自己的份额。这次没有运行。请稍后再试。',
    ],
  ],
  channelUnavailable: [
    [sentences.channelUnavailable(place, C), '无法把客户端 {a} 的请求写入 mock/{n}/{b}：{c}。它没有运行。'],
  ],
  diskFull: [[sentences.diskFull(A), '{a}，所以客户端无法表明自己在线。它没有运行。请腾出空间后再试。']],
  whileFull: [
    [sentences.whileFull({ ...sentences.diskFull(B), error: A }, B), '{a}此时 {b}，所以客户端可能无法应答。'],
  ],
  clientsUnreadable: [
    [sentences.clientsUnreadable(N1, A), '无法在 clients/{n} 和 mock/{n} 中查找应用 {n} 的客户端：{a}。它没有运行。'],
  ],
  claimsUnwritable: [
    [sentences.claimsUnwritable(A), '无法在共享目录的 .rule-server/claims 中写入认领：{a}。它没有运行。'],
  ],
  tooNew: [
    [
      sentences.tooNew(N1, N2),
      '没有工作进程能读取这次执行的作业：它是版本 {n}，而这个工作进程只认识到版本 {m}。它没有运行。请先更换工作进程，再更换 API。',
    ],
  ],
  unreadableJob: [
    [
      sentences.unreadableJob(A),
      '没有工作进程能读取执行 {a} 的作业，也不知道先前的工作进程是否已开始它。它可能已运行；请查看客户端。',
    ],
  ],
  unreadableClaim: [
    [
      sentences.unreadableClaim(A),
      '不知道执行 {a} 是否已开始：它在 .rule-server/claims 中的认领无法读取，或不再保留。它可能已运行；请查看客户端。',
    ],
  ],
  cancelledBeforePickUp: [
    [sentences.cancelledBeforePickUp(obeys), '执行在 {a} 取走请求之前被取消；请求已收回。规则没有运行。'],
    [sentences.cancelledBeforePickUp(mayRun), `执行在 {a} 取走请求之前被取消；请求已收回。${UNKNOWN}`],
  ],
  cancelledAfterPickUp: [[sentences.cancelledAfterPickUp(obeys), `执行在 {a} 取走请求之后被取消。${UNKNOWN}`]],
  leftBeforePickUp: [
    [sentences.leftBeforePickUp(obeys), '客户端 {a} 在取走请求之前注销了。规则没有运行。'],
    [sentences.leftBeforePickUp(mayRun), `客户端 {a} 在取走请求之前注销了。${UNKNOWN}`],
  ],
  left: [[sentences.left(obeys), `客户端 {a} 在持有请求时离开了。${UNKNOWN}`]],
  requestRemoved: [
    [
      sentences.requestRemoved(obeys),
      `客户端 {a} 已消失，它的目录连同其中的请求一起被删除；工作进程没有看到客户端是否已取走请求。${UNKNOWN}`,
    ],
  ],
  notPickedUp: [
    [sentences.notPickedUp(obeys, N1), '客户端 {a} 在 {n} 毫秒内没有取走请求；请求已收回。规则没有运行。'],
    [sentences.notPickedUp(mayRun, N1), `客户端 {a} 在 {n} 毫秒内没有取走请求；请求已收回。${UNKNOWN}`],
  ],
  silent: [[sentences.silent(obeys, N1), `客户端 {a} 已取走请求，但在 {n} 毫秒内没有写应答。${UNKNOWN}`]],
  silentAfterRemoval: [
    [
      sentences.silentAfterRemoval(obeys, N1),
      `客户端 {a} 的目录连同其中的请求一起被删除，{n} 毫秒内没有应答。${UNKNOWN}`,
    ],
  ],
  invalidResult: [
    [sentences.invalidResult(obeys, fault), '客户端 {a} 写的结果无法使用：它{b}。规则已运行或已开始运行。'],
  ],
  invalidToTheEnd: [
    [sentences.invalidToTheEnd(obeys, fault, N1), `客户端 {a} 留下的结果无法使用：{n} 毫秒后它{b}。${UNKNOWN}`],
  ],
  ignoredDryRun: [
    [
      sentences.ignoredDryRun(obeys, true),
      '要求客户端 {a} 进行试运行，而它的应答没有说明是试运行：规则可能已运行并产生了全部副作用；再次运行之前，请先查看客户端。',
    ],
    [
      sentences.ignoredDryRun(obeys, false),
      '客户端 {a} 不能试运行，在请求中没有找到可运行的内容。它没有运行。刚才可能是另一个客户端使用这个地址。',
    ],
  ],
  unreadableResult: [
    [
      sentences.unreadableResult(obeys, B, N1),
      `客户端 {a} 可能已应答，但工作进程在 {n} 毫秒内无法读取应答（{b}）。之后能读取的应答会随执行保存。${UNKNOWN}`,
    ],
  ],
  directoryHangs: [
    [
      sentences.directoryHangs(obeys),
      `客户端 {a} 的目录没有响应，所以工作进程不知道它是否已取走请求或应答。${UNKNOWN}`,
    ],
  ],
  cannotGoOn: [[sentences.cannotGoOn(one, C), '未能等到客户端 {a} 对执行 {b} 的应答（{c}）。它可能已运行。']],
};

const faults: Table<typeof resultFaults> = {
  empty: [[resultFaults.empty(), '是空的']],
  cut: [[resultFaults.cut(N1), '在 {n} 字节后过早结束']],
  notUtf8: [
    [resultFaults.notUtf8(A), '不是有效的 UTF-8：{a}'],
    [resultFaults.notUtf8(''), '不是有效的 UTF-8'],
  ],
  notJson: [
    [resultFaults.notJson(A, B), '不是 JSON：{a}，位于 {b}'],
    [resultFaults.notJson(A, ''), '不是 JSON：{a}'],
  ],
  null: [[resultFaults.null(), '是字面量 null：客户端在运行规则时崩溃']],
  notAnObject: [[resultFaults.notAnObject(A), '是 JSON，但不是对象：{a}']],
  twice: [[resultFaults.twice(A), '重复给出 {a}']],
  ofAnother: [[resultFaults.ofAnother(A), '应答的是另一次执行：它的 mockId 是 {a}']],
  noSuccess: [[resultFaults.noSuccess(), '没有 "success"']],
  badSuccess: [[resultFaults.badSuccess(A), '的 "success" 既不是 true 也不是 false：{a}']],
  badData: [[resultFaults.badData(A, B), '的 "{a}" 不是对象：{b}']],
  badTime: [[resultFaults.badTime(A), '的 "executeAt" 不是数字：{a}']],
  link: [[resultFaults.link(), '是链接，服务从不读取链接']],
  socket: [[resultFaults.socket(), '是套接字']],
};

const ofRefusals: Table<typeof refusals> = {
  bodyTooLarge: [[refusals.bodyTooLarge(N1, A), '正文超过 {n} 字节（{a}）。']],
  limitReached: [[refusals.limitReached(A, B), 'API 密钥“{a}”{b}。这个请求被拒绝，什么都没有运行。请稍后再试。']],
  noPermission: [[refusals.noPermission(A, B, C), '这需要权限“{a}”，而 API 密钥“{b}”的权限为：{c}。']],
  otherApps: [[refusals.otherApps(N1, A, B), '应用 {n} 需要为它签发的 API 密钥，而密钥“{a}”用于：{b}。']],
  keyExpired: [[refusals.keyExpired(A), 'API 密钥“{a}”已过期：请申请新的密钥。']],
  keyUnknown: [[refusals.keyUnknown(), '服务不认识这个 API 密钥：可能输错了，或已在 API_KEYS 中更改。']],
  keyReused: [[refusals.keyReused(), '这个 Idempotency-Key 已用于正文不同的调用：新的调用请用新的 Idempotency-Key。']],
  unknownExecution: [
    [refusals.unknownExecution(A), '执行 {a} 不存在，或已不再保留（HISTORY_COUNT、HISTORY_SECONDS）。'],
  ],
  nothingKept: [
    [refusals.nothingKept(A, B, N1), '执行 {a} 以“{b}”结束。不保留它的输入和应答：HISTORY_OFF 列出了应用 {n}。'],
  ],
  executionEnded: [[refusals.executionEnded(A), '执行 {a} 已经结束，无法再取消。']],
  notInHistory: [[refusals.notInHistory(A), '执行 {a} 还不在历史中：请在它结束后再固定。']],
  pinsFull: [[refusals.pinsFull(N1), '最多可固定 {n} 个执行，最多占 HISTORY_BYTES 的一半。请先取消固定一个。']],
  tooManySearches: [[refusals.tooManySearches(), '这个 API 中同时进行的搜索太多。请稍后再试。']],
  unknownBatch: [[refusals.unknownBatch(A), '没有批次 {a}。']],
  goneBatch: [[refusals.goneBatch(A), '批次 {a} 不再保留（BATCH_SECONDS、BATCH_BYTES）。']],
  unknownItem: [[refusals.unknownItem(A, B), '批次 {a} 没有第 {b} 项。']],
  batchEnded: [[refusals.batchEnded(A), '批次 {a} 已经结束，无法再取消。']],
  casesGone: [[refusals.casesGone(), '已没有保存的用例。没有更改任何内容。']],
  casesChanged: [[refusals.casesChanged(), '保存的用例在您读取之后已被更改。没有更改任何内容：请重新读取。']],
  unknownRule: [[refusals.unknownRule(N1, A), '应用 {n} 没有规则 {a}。']],
  unknownNode: [[refusals.unknownNode(N1, A), '应用 {n} 没有节点 {a}。']],
  nodeNotInRule: [[refusals.nodeNotInRule(N1, A, B), '应用 {n} 的规则 {a} 没有节点 {b}。']],
  noRules: [[refusals.noRules(N1), '应用 {n} 没有可读取的规则。']],
  unusableRule: [[refusals.unusableRule(N1, A), '应用 {n} 中的规则文件无法使用：{a}。']],
  workerFailed: [[refusals.workerFailed(), '工作进程无法应答，其日志说明原因。请稍后再试。']],
  noWorkerAnswered: [[refusals.noWorkerAnswered(N1), '{n} 毫秒内没有工作进程应答。请稍后再试。']],
  storeAway: [[refusals.storeAway(), '无法连接队列存储。请稍后再试。']],
  answerLost: [[refusals.answerLost(), '无法从存储中读回应答。请稍后再试。']],
  answerTooNew: [[refusals.answerTooNew(), '较新版本的工作进程作出了应答，这个 API 不认识其格式。请稍后再试。']],
};

const ofLimits: Table<typeof limits> = {
  callsPerSecond: [[limits.callsPerSecond(N1), '每秒最多调用 {n} 次']],
  openCalls: [[limits.openCalls(N1), '同时最多有 {n} 个未结束的调用']],
  streams: [[limits.streams(N1), '同时最多打开 {n} 个事件流']],
  batches: [[limits.batches(N1), '同时最多进行 {n} 个批次']],
};

/** The rest of a list that is cut, and the states of the queue store. */
const ofParts: readonly Pair[] = [
  [`${A} and ${N1} more`, '{a} 以及另外 {n} 个'],
  ['cannot be reached', '无法连接'],
  ['did not answer', '没有应答'],
  ['refused the execution', '拒绝了这次执行'],
];

type Translation = { pattern: RegExp; chinese: string };

const whole = translationsOf({ ...endings, ...ofRefusals });
/** A parameter may be a sentence, or a part of one. */
const parts = [...whole, ...translationsOf({ ...faults, ...ofLimits, ofParts })];

function translationsOf(table: Record<string, readonly Pair[]>): Translation[] {
  return Object.values(table)
    .flat()
    .map(([english, chinese]) => ({
      pattern: patternOf(typeof english === 'string' ? english : english.error),
      chinese,
    }));
}

/** The sentence as a regular expression: the first mark of a parameter is a group, every further one a repetition of it. */
function patternOf(sentence: string): RegExp {
  const escaped = withoutCircle(sentence).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const named = Object.entries(MARKS).reduce((text, [name, mark]) => {
    const [before = '', ...rest] = text.split(mark);
    const group = name === 'n' ? '\\d+' : '.*?';
    return rest.length === 0 ? text : `${before}(?<${name}>${group})${rest.join(`\\k<${name}>`)}`;
  }, escaped);
  return new RegExp(`^${named}$`, 's');
}

/** The nodes of a circle are one parameter, however many they are. */
function withoutCircle(sentence: string): string {
  const long = Array.from({ length: 10 }, () => N2).join(' → ');
  return sentence.replace(`${N2} → 1 → ${N2}`, `${N2}`).replace(`${long} → … (11 nodes)`, `${N2}`);
}

/**
 * A sentence of the service in Chinese, with its parameters, of which some are sentences again. Anything else stays as it is: words of a
 * client, of the system, or of a newer service.
 */
export function serviceInChinese(sentence: string): string {
  return translated(sentence, whole);
}

function translated(sentence: string, translations: readonly Translation[]): string {
  for (const { pattern, chinese } of translations) {
    const found = pattern.exec(sentence);
    if (found === null) continue;
    const parameters = Object.entries(found.groups ?? {}).map(([name, text]) => [name, translated(text, parts)]);
    return format(chinese, Object.fromEntries(parameters));
  }
  return sentence;
}
