import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import { ignoreError } from '../client/workflow-calls.ts';
import { unreadSchedule } from './unread-schedules.ts';

const TRIES = 3;

type State = Pick<ScheduleDescription['state'], 'paused' | 'note'>;

export interface DeclaredSchedule extends Pick<ScheduleOptions, 'scheduleId' | 'spec' | 'action' | 'policies'> {
  note?: string;
  stateOf(current: State): State;
}

/** Creates a schedule or updates it. Idempotent, safe to run from several processes at once. */
export async function upsertSchedule(client: Client, schedule: DeclaredSchedule): Promise<'created' | 'updated'> {
  const { note, stateOf: _, ...options } = schedule;
  for (let tried = 1; ; tried += 1) {
    if (await updateSchedule(client, schedule)) return 'updated';
    try {
      await client.schedule.create({ ...options, ...(note !== undefined && { state: { note } }) });
      return 'created';
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning) || tried === TRIES) throw error;
    }
  }
}

/** Updates a schedule. Idempotent. @returns false when there is none */
export async function updateSchedule(
  client: Client,
  { scheduleId, spec, action, policies, stateOf }: DeclaredSchedule,
): Promise<boolean> {
  return ignoreError(
    unreadSchedule(client, scheduleId).update(({ state }) => ({
      spec,
      action: { ...action, workflowId: action.workflowId! },
      policies,
      state: stateOf(state),
    })),
    ScheduleNotFoundError,
  );
}

/** Deletes a schedule. Idempotent. @returns false when there was none */
export function deleteSchedule(client: Client, scheduleId: string): Promise<boolean> {
  return ignoreError(client.schedule.getHandle(scheduleId).delete(), ScheduleNotFoundError);
}
