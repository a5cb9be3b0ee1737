/**
 * Processor time that this process takes for `work`, in milliseconds. A bound on it holds on a busy machine too, unlike
 * one on the time that passes.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
