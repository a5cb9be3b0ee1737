import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { describe, expect } from 'vitest';
import {
  PROFILE_TRIGGER_WORKFLOW,
  type ProfileTriggerInput,
  type ProfileTriggerResult,
} from '../../../workflows/contracts/profile-trigger.contract.ts';
import { FakeProfiles } from '../../support/activities/fakes.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import { countEvents, withWorker } from '../../support/temporal/workflow-environment.ts';

type Trigger = (input: ProfileTriggerInput) => Promise<ProfileTriggerResult>;

/** Runs the trigger of one date as a schedule does. */
async function trigger(
  { client, nativeConnection: connection }: TestWorkflowEnvironment,
  profiles: FakeProfiles,
  workflowId: string,
) {
  return await withWorker({ connection, activities: profiles.activities() }, async (taskQueue) => {
    const handle = await client.workflow.start<Trigger>(PROFILE_TRIGGER_WORKFLOW, {
      taskQueue,
      workflowId,
      args: [{ kind: 'usg', profileId: 7 }],
    });
    return { result: await handle.result(), events: await countEvents(handle) };
  });
}

describe('profileTrigger', () => {
  it('starts the run of the date in its id, then plans further dates, in few events', async ({ server }) => {
    const profiles = new FakeProfiles();
    const { result, events } = await trigger(server, profiles, 'usg-run/7-2026-12-01T02:00:00Z');
    expect(result).toEqual({ scheduledTime: '2026-12-01T02:00:00.000Z', outcome: 'started', activity: 1 });
    expect(profiles.calls).toEqual(['startRun', 'extendSchedule']);
    expect([...profiles.runs]).toEqual(['usg/7 2026-12-01T02:00:00.000Z']);
    expect(events.total).toBeLessThanOrEqual(10);
    expect(events.of('activityTaskScheduled')).toBe(0);
  });

  it('creates one run when it is started twice', async ({ server }) => {
    const profiles = new FakeProfiles();
    await trigger(server, profiles, 'usg-run/7-2026-12-08T02:00:00Z');
    const { result } = await trigger(server, profiles, 'usg-run/7-2026-12-08T02:00:00Z');
    expect(result.outcome).toBe('known');
    expect(profiles.runs.size).toBe(1);
  });

  it('takes its start time where its id has no date', async ({ server }) => {
    const profiles = new FakeProfiles();
    const { result } = await trigger(server, profiles, 'usg-run/7');
    expect(Math.abs(Date.parse(result.scheduledTime) - (await server.currentTimeMs()))).toBeLessThan(60_000);
    expect(result.scheduledTime).toMatch(/:\d\d\.000Z$/);
  });

  it('waits for a database that is unavailable for hours', async ({ server }) => {
    const profiles = new FakeProfiles();
    profiles.failures = 150;
    const startedAt = await server.currentTimeMs();
    const { result, events } = await trigger(server, profiles, 'usg-run/7-2026-12-15T02:00:00Z');
    expect(result.outcome).toBe('started');
    expect((await server.currentTimeMs()) - startedAt).toBeGreaterThan(2 * 3_600_000);
    expect(profiles.runs.size).toBe(1);
    expect(events.total).toBeLessThanOrEqual(20);
  });
});
