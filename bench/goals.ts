/** A number that `npm run bench` measures, and what it has to be. */
export type Goal = { what: string; unit: string; digits: number } & ({ atMost: number } | { atLeast: number });

const ms = { unit: ' ms', digits: 1 };
const percent = { unit: ' %', digits: 1 };
const times = { unit: ' ×', digits: 2 };
const count = { unit: '', digits: 1 };

/** All goals, in the order of the table that `npm run bench` ends with. */
export const goals = {
  networkOne: { what: 'over sshfs, instant client, one at a time: p50', atMost: 40, ...ms },
  networkRequests: { what: 'over sshfs, one at a time: requests a call', atMost: 12, ...count },
  delayedOne: { what: 'over sshfs, each request 1 ms longer: p50', atMost: 40, ...ms },
  delayedRequests: { what: 'over sshfs, each request 1 ms longer: requests a call', atMost: 12, ...count },
  rule: { what: 'over sshfs, added to a rule of 700 ms: p50', atMost: 10, ...percent },
  ruleLate: { what: 'over sshfs, added to a rule of 700 ms: p99', atMost: 20, ...percent },
  longRule: { what: 'over sshfs, added to a rule of 2 s: p50', atMost: 10, ...percent },
  longRuleLate: { what: 'over sshfs, added to a rule of 2 s: p99', atMost: 20, ...percent },
  networkFifty: { what: 'over sshfs, 50 callers: calls a second', atLeast: 300, unit: '/s', digits: 0 },
  waitsInOne: { what: 'over sshfs, 1,000 waits of 60 s in 1 directory: time in looks', atMost: 10, ...percent },
  waitsInHundred: { what: 'over sshfs, 1,000 waits of 60 s in 100 directories: time in looks', atMost: 10, ...percent },
  // Not to be more than before noticing without events was built: at dd1b46d these counts are 9.4, 0.1 and 1.1.
  operations: { what: 'local files: file operations a call', atMost: 9.5, ...count },
  idleListings: { what: 'local files, nothing open: listings a second', atMost: 0.2, ...count },
  openListings: { what: 'local files, one wait open: listings a second', atMost: 1.2, ...count },
  nodeUsed: { what: 'Node SDK over sshfs, used in the last minute: request noticed, p50', atMost: 100, ...ms },
  nodeIdle: { what: 'Node SDK over sshfs, idle: request noticed, p50', atMost: 1000, ...ms },
  cpu: { what: 'CPU of a call at 100 callers ÷ (BullMQ alone + floor)', atMost: 1.5, ...times },
  idleApi: { what: 'CPU of an API that nobody calls, per call of the others', atMost: 10, unit: ' µs', digits: 0 },
  fourApis: { what: 'calls a second at 4 APIs, of those at 1', atLeast: 90, unit: ' %', digits: 0 },
  floorOne: { what: "one at a time: p50 ÷ the floor's", atMost: 3, ...times },
  floorThousand: { what: "1,000 callers: calls a second, of the floor's", atLeast: 27, unit: ' %', digits: 0 },
  publishedSdk: { what: 'client of a published SDK, files on a disk, one at a time: p50', atMost: 4, ...ms },
} satisfies Record<string, Goal>;

export type GoalName = keyof typeof goals;
