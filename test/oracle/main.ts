import { checkAll } from './smallest.ts';

const [what, count = '1000', from = '1'] = process.argv.slice(2);
const seeds = Array.from({ length: Number(count) }, (_, index) => Number(from) + index);
if (what === 'smallest') console.log(await checkAll(seeds));
