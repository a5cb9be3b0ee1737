import { condition, defineSignal, executeChild, proxySinks, setHandler, workflowInfo } from '@temporalio/workflow';
import type { BareSinks } from './no-op.contract.ts';

const go = defineSignal('go');

/** The cheapest workflow there is. */
export async function noOp(): Promise<number> {
  return 1;
}

/** As cheap as a group can be: it does nothing but wait for the one child it has. */
export async function bareGroup(): Promise<number> {
  return await executeChild(bareLane, { workflowId: `${workflowInfo().workflowId}-lane` });
}

/** As cheap as a batch can be: it does nothing but wait for one signal. */
export async function bareLane(): Promise<number> {
  let isDone = false;
  setHandler(go, () => {
    isDone = true;
  });
  proxySinks<BareSinks>().bare.waits();
  await condition(() => isDone);
  return 1;
}
