import { join } from 'node:path';
import type { BenchContext } from '../bench.ts';
import { type Stack, startStack } from './stack.ts';
import { startTopology } from './topology.ts';

/**
 * Starts the product as configured by the options, embedded or as topology, and waits until it is ready.
 * @param env - further settings
 */
export async function startProduct(context: BenchContext, env: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const { options, resources, root } = context;
  const dataDir = join(resources.folder('flotilla-bench-'), 'data');
  const start = options.on === 'topology' ? startTopology : startStack;
  const stack = await start(resources, root, dataDir, env);
  await stack.ready();
  return stack;
}
