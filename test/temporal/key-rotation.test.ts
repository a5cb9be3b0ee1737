import type { Client } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DesiredSchedule, ProfileKindName, ScheduleTimes } from '../../src/domain/schedules/profile-schedule.ts';
import type { EncryptionKey } from '../../src/process/config.ts';
import { bootstrap } from '../../temporal/bootstrap.ts';
import { connectClient } from '../../temporal/client/connection.ts';
import { ensureSchedule, isPausedByOperator } from '../../temporal/schedules/profile-schedules.ts';
import { AUDIT_RETENTION_SCHEDULE_ID, RECONCILE_SCHEDULE_ID } from '../../workflows/contracts/housekeeping.contract.ts';
import { createTestNamespace } from '../support/temporal/temporal.ts';
import { until } from '../support/temporal/workflow-environment.ts';

const OLD: EncryptionKey = { id: 'old', key: Buffer.alloc(32, 1) };
const NEW: EncryptionKey = { id: 'new', key: Buffer.alloc(32, 2) };
const THIRD: EncryptionKey = { id: 'third', key: Buffer.alloc(32, 3) };
const SYSTEM_SCHEDULES = 4;

const DATES: ScheduleTimes = {
  kind: 'dates',
  dates: [new Date('2090-01-31T04:05:06Z'), new Date('2091-12-01T00:00:00Z')],
};
const CALENDARS: ScheduleTimes = {
  kind: 'calendars',
  calendars: [{ minutes: [0, 30], hours: [2], daysOfMonth: null, months: [1, 6], daysOfWeek: [1, 5] }],
  startAt: new Date('2089-03-01T00:00:00Z'),
};

const desired = (kind: ProfileKindName, profileId: number, times: ScheduleTimes): DesiredSchedule => ({
  kind,
  profileId,
  accountId: 1,
  times,
  summary: `run of profile ${profileId}`,
  note: 'as in the profile',
});

/** A namespace, and processes with these or those keys on it. */
async function aNamespace() {
  const { address: temporalAddress, namespace: temporalNamespace } = await createTestNamespace();
  const at = (encryptionKeys: EncryptionKey[]) => ({ temporalAddress, temporalNamespace, encryptionKeys });
  return {
    bootstrap: (...keys: EncryptionKey[]) => bootstrap(at(keys)),
    async client(...keys: EncryptionKey[]): Promise<Client> {
      const { client, close } = await connectClient(at(keys));
      onTestFinished(close);
      return client;
    },
  };
}

/** Three schedules, the second of which an operator has paused. Resolves when the server lists them. */
async function makeSchedules(client: Client): Promise<void> {
  expect(await ensureSchedule(client, 'usg/1', desired('usg', 1, DATES))).toBe('created');
  expect(await ensureSchedule(client, 'usg/2', desired('usg', 2, DATES))).toBe('created');
  expect(await ensureSchedule(client, 'script/3', desired('script', 3, CALENDARS))).toBe('created');
  await client.schedule.getHandle('usg/2').pause('for maintenance');
  await until(async () => {
    let listed = 0;
    for await (const _ of client.schedule.list()) listed += 1;
    return listed === SYSTEM_SCHEDULES + 3;
  });
}

/** What the server keeps of a schedule in clear. */
async function inClear(client: Client, scheduleId: string) {
  const { namespace } = client.options;
  const { schedule, info } = await client.workflowService.describeSchedule({ namespace, scheduleId });
  const { spec, policies, state, action } = schedule!;
  const { workflowId, workflowType, taskQueue, searchAttributes } = action!.startWorkflow!;
  const due = info!.futureActionTimes;
  return { spec, policies, state, due, workflowId, workflowType, taskQueue, searchAttributes };
}

async function allInClear(client: Client) {
  return await Promise.all(['usg/1', 'usg/2', 'script/3'].map((id) => inClear(client, id)));
}

/** What a process with these keys reads of the action. */
async function read(client: Client, scheduleId: string) {
  return (await client.schedule.getHandle(scheduleId).describe()).action;
}

describe('schedules and a new encryption key', () => {
  it('are encrypted with the first key by the bootstrap, which changes nothing else', async () => {
    const server = await aNamespace();
    await server.bootstrap(OLD);
    const before = await server.client(OLD);
    await makeSchedules(before);
    const were = await allInClear(before);

    expect(await server.bootstrap(NEW, OLD)).toEqual({ reencrypted: 3, unreadable: [] });
    expect(await server.bootstrap(NEW, OLD)).toEqual({ reencrypted: 0, unreadable: [] });
    const after = await server.client(NEW);
    expect(await allInClear(after)).toEqual(were);
    const [first, third] = [await read(after, 'usg/1'), await read(after, 'script/3')];
    expect(first).toMatchObject({ args: [{ kind: 'usg', profileId: 1 }], staticSummary: 'run of profile 1' });
    expect(third).toMatchObject({ args: [{ kind: 'script', profileId: 3 }], staticSummary: 'run of profile 3' });
    expect(await isPausedByOperator(after, 'usg/2')).toBe(true);
    expect(await isPausedByOperator(after, 'script/3')).toBe(false);
    expect(await ensureSchedule(after, 'usg/2', desired('usg', 2, CALENDARS))).toBe('updated');
    const { state } = await after.schedule.getHandle('usg/2').describe();
    expect(state).toMatchObject({ paused: true, note: 'for maintenance' });
  });

  it('can be updated without the old key, without losing a pause', async () => {
    const server = await aNamespace();
    await server.bootstrap(OLD);
    const before = await server.client(OLD);
    await makeSchedules(before);
    await before.schedule.getHandle(RECONCILE_SCHEDULE_ID).pause('by an operator');

    expect(await server.bootstrap(NEW)).toEqual({ reencrypted: 0, unreadable: [] });
    const after = await server.client(NEW);
    expect(await read(after, AUDIT_RETENTION_SCHEDULE_ID)).toMatchObject({ args: [{ deletedCount: 0 }] });
    expect((await after.schedule.getHandle(RECONCILE_SCHEDULE_ID).describe()).state.paused).toBe(true);
    await expect(read(after, 'usg/1')).rejects.toThrow('not configured');
    expect(await isPausedByOperator(after, 'usg/1')).toBe(false);
    expect(await isPausedByOperator(after, 'usg/2')).toBe(true);
    for (const id of [1, 2]) {
      expect(await ensureSchedule(after, `usg/${id}`, desired('usg', id, DATES))).toBe('updated');
      expect(await read(after, `usg/${id}`)).toMatchObject({ args: [{ kind: 'usg', profileId: id }] });
    }
    const { state } = await after.schedule.getHandle('usg/2').describe();
    expect(state).toMatchObject({ paused: true, note: 'for maintenance' });
  });

  it('are named by the bootstrap and left unchanged when no key decrypts them', async () => {
    const server = await aNamespace();
    await server.bootstrap(OLD);
    await makeSchedules(await server.client(OLD));
    const { reencrypted, unreadable } = await server.bootstrap(NEW, THIRD);
    expect([reencrypted, unreadable.toSorted()]).toEqual([0, ['script/3', 'usg/1', 'usg/2']]);
    expect(await server.bootstrap(NEW, OLD)).toEqual({ reencrypted: 3, unreadable: [] });
  });
});
