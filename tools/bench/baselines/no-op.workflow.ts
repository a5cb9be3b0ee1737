import { condition, defineSignal, executeChild, proxySinks, setHandler, workflowInfo } from '@temporalio/workflow';
import type { BareSinks } from './no-op.contract.ts';

const go = defineSignal('go');

/** The cheapest possible workflow. */
export async function noOp(): Promise<number> {
  return 1;
}

/** The cheapest possible group: it only waits for its one child. */
export async function bareGroup(): Promise<number> {
  return await executeChild(bareBatch, { workflowId: `${workflowInfo().workflowId}-lane` });
}

/** The cheapest possible batch: it only waits for one signal. */
export async function bareBatch(): Promise<number> {
  let isDone = false;
  setHandler(go, () => {
    isDone = true;
  });
  proxySinks<BareSinks>().bare.waits();
  await condition(() => isDone);
  return 1;
}
