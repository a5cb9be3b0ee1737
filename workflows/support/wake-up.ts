import { defineSignal, setHandler } from '@temporalio/workflow';
import { RELEASED_WAKE_UP_SIGNAL, WAKE_UP_SIGNAL } from '../contracts/activity.contract.ts';

const signals = [WAKE_UP_SIGNAL, RELEASED_WAKE_UP_SIGNAL].map((name) => defineSignal(name));

/** Calls `handle` for each wake-up, under its name of today and that of earlier builds. */
export function onWakeUp(handle: () => void): void {
  for (const signal of signals) setHandler(signal, handle);
}
