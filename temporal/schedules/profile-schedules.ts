import {
  type CalendarSpec,
  type Client,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
  ScheduleOverlapPolicy,
  type ScheduleSpec,
  type ScheduleSummary,
} from '@temporalio/client';
import { DAYS_OF_WEEK, MONTHS } from '@temporalio/client/lib/schedule-types.js';
import { shortSummary } from '../../src/domain/activities/summary.ts';
import {
  type CalendarTimes,
  type DesiredSchedule,
  isExhausted,
  scheduleIdOf,
} from '../../src/domain/schedules/profile-schedule.ts';
import {
  PROFILE_TRIGGER_WORKFLOW,
  type ProfileTriggerInput,
  triggerWorkflowId,
} from '../../workflows/contracts/profile-trigger.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { unreadSchedule } from './unread-schedules.ts';
import { type DeclaredSchedule, deleteSchedule, updateSchedule, upsertSchedule } from './upsert-schedule.ts';

/** What was done on the server. `none`: there is no schedule and none is needed. */
type EnsureOutcome = 'created' | 'updated' | 'paused' | 'deleted' | 'none';

/** Note that marks a pause as ours: a pause by an operator is left alone. */
const EXHAUSTED = 'There is no further date.';
/** A server that was down catches up on this much by itself; the reconciler handles older dates. */
const CATCHUP = '24h';

/**
 * Creates, updates, pauses (no further date) or, for null, deletes it. Idempotent. A pause by an operator stays.
 * @see docs/architecture.md#schedules-of-profiles
 */
export async function ensureSchedule(
  client: Client,
  scheduleId: string,
  desired: DesiredSchedule | null,
): Promise<EnsureOutcome> {
  if (desired === null) return (await deleteSchedule(client, scheduleId)) ? 'deleted' : 'none';
  const schedule: DeclaredSchedule = {
    scheduleId,
    ...declaration(desired),
    note: desired.note,
    stateOf: (current) => (isByOperator(current) ? current : stateFor(desired)),
  };
  if (!isExhausted(desired)) return upsertSchedule(client, schedule);
  return (await updateSchedule(client, schedule)) ? 'paused' : 'none';
}

/** Whether a listed schedule was declared with a note that starts with `beginning`, or is controlled by an operator. */
export function isDeclaredAs({ paused, note }: ScheduleSummary['state'], beginning: string): boolean {
  return paused ? note !== EXHAUSTED : note?.startsWith(beginning) === true;
}

/** Whether a schedule exists and an operator has paused it. */
export async function isPausedByOperator(client: Client, scheduleId: string): Promise<boolean> {
  try {
    const { state } = await unreadSchedule(client, scheduleId).describe();
    return isByOperator(state);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

function isByOperator({ paused, note }: { paused: boolean; note?: string }): boolean {
  return paused && note !== EXHAUSTED;
}

function stateFor(desired: DesiredSchedule): { paused: boolean; note: string } {
  return isExhausted(desired) ? { paused: true, note: EXHAUSTED } : { paused: false, note: desired.note };
}

function declaration(desired: DesiredSchedule) {
  const { kind, profileId, accountId } = desired;
  const action: ScheduleOptionsAction = {
    type: 'startWorkflow',
    workflowType: PROFILE_TRIGGER_WORKFLOW,
    workflowId: triggerWorkflowId(kind, profileId),
    taskQueue: TASK_QUEUES.schedule,
    args: [{ kind, profileId } satisfies ProfileTriggerInput],
    staticSummary: shortSummary(desired.summary),
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.accountId, value: String(accountId) },
      { key: SEARCH_ATTRIBUTES.profileId, value: scheduleIdOf(kind, profileId) },
    ],
  };
  // The database resolves overlapping runs, by computer.
  const policies = { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: CATCHUP } as const;
  return { spec: toSpec(desired), action, policies };
}

function toSpec({ times }: DesiredSchedule): ScheduleSpec {
  if (times.kind === 'dates') return { calendars: times.dates.map(dateToCalendar) };
  return {
    calendars: times.calendars.map(toCalendar),
    ...(times.startAt && { startAt: times.startAt }),
  };
}

function dateToCalendar(date: Date): CalendarSpec {
  return {
    year: date.getUTCFullYear(),
    month: MONTHS[date.getUTCMonth()]!,
    dayOfMonth: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

function toCalendar(times: CalendarTimes): CalendarSpec {
  return {
    minute: [...times.minutes],
    hour: [...times.hours],
    dayOfMonth: times.daysOfMonth === null ? '*' : [...times.daysOfMonth],
    month: times.months === null ? '*' : times.months.map((month) => MONTHS[month - 1]!),
    dayOfWeek: times.daysOfWeek === null ? '*' : times.daysOfWeek.map((day) => DAYS_OF_WEEK[day]!),
  };
}
