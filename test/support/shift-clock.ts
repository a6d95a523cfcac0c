// For `node --import`: the process believes that it is CLOCK_AHEAD_MS later than it is. Monotonic clocks stay as they are.
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
const realNow = Date.now;
const shiftedNow = () => realNow() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (real, given) => Reflect.construct(real, given.length === 0 ? [shiftedNow()] : given),
  get: (real, name) => (name === 'now' ? shiftedNow : Reflect.get(real, name)),
});
