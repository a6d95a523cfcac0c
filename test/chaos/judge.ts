import { brokenIn, readStory, verdictOf } from './verdict.ts';

// `node test/chaos/judge.ts FILE`: judges the story of a run of chaos or of a soak again, from its file alone. Exit code 1: a promise was broken.
const [, , path] = process.argv;
if (path === undefined) throw new Error('usage: node test/chaos/judge.ts FILE');
const verdict = verdictOf(readStory(path));
const broken = brokenIn(verdict);
const { calls, answered, refused, cutOff, what, seed } = verdict;
console.log(`${what}, seed ${seed}: ${calls} calls, ${answered} answered, ${refused} refused, ${cutOff} cut off.`);
for (const line of broken) console.log(line);
console.log(broken.length === 0 ? 'Every promise was kept.' : `${broken.length} times a promise was broken.`);
process.exitCode = broken.length === 0 ? 0 : 1;
