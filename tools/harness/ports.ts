import { findFreePort } from '../stack/processes/ports.ts';

/** As many different ports, each of which was free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}
