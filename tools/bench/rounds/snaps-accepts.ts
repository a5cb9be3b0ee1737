import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { measure, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { countsOf } from '../product/database.ts';
import { DEFAULT_PING_SECONDS } from '../product/fleet.ts';
import type { SnapsSetting } from './snaps-rounds.ts';

/** Times of POST /snaps to the same computers, one after another. */
export interface Accepts {
  timesMs: number[];
  usage: Usage;
}

/** Enough for a p95 that is not just the slowest. */
export const ACCEPTS = 20;

/** Workflows of the previous action must have ended. */
const SETTLE_MS = 2500;
const CANCELED_LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Response times of an action on a group while agents ping at their default interval. Each action is scheduled for the
 * next day and canceled before the next one.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function measureAccepts(setting: SnapsSetting, computerIds: readonly number[]): Promise<Accepts> {
  for (const fleet of setting.fleets) await fleet.setPing(DEFAULT_PING_SECONDS);
  const timesMs: number[] = [];
  const all = async () => {
    while (timesMs.length < ACCEPTS) timesMs.push(await timeAccept(setting, computerIds));
  };
  const { usage } = await measure(setting.roles, all, { peaks: 'ends' });
  return { timesMs, usage };
}

async function timeAccept({ api, database }: SnapsSetting, computerIds: readonly number[]): Promise<number> {
  await sleep(SETTLE_MS);
  const body = {
    action: 'install',
    computer_ids: computerIds,
    snaps: [{ name: 'hello-world' }],
    deliver_after: new Date(Date.now() + DAY_MS).toISOString(),
  };
  const from = performance.now();
  const { id } = await api.call<{ id: number }>('POST', '/snaps', body);
  const acceptMs = performance.now() - from;
  await api.call('POST', '/activities/cancel', { activity_ids: [id] });
  const ended = async () => {
    const counts = await countsOf(database, id);
    return counts.open === 0 ? counts : null;
  };
  const limits = { everyMs: 50, limitMs: CANCELED_LIMIT_MS };
  const { canceled } = await waitFor(`the cancel of activity ${id}`, ended, limits);
  assert.equal(canceled, computerIds.length, 'all are canceled');
  return acceptMs;
}
