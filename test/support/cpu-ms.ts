/** What some work costs of a processor, however many other programs use it meanwhile. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}
