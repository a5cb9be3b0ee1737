import type { DesiredSchedule, ProfileKindName, RunStart } from '../../domain/schedules/profile-schedule.ts';
import type { Sql } from '../../persistence/database/sql.ts';

/**
 * To add a kind, list it in `PROFILE_KINDS`, implement this interface, register it in `workers/process/parts.ts`, add
 * its runs to `src/persistence/engine/startable.sql.ts`, and call `enqueueScheduleSync` in every transaction that
 * changes the result of `desiredSchedule`. @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileKind {
  readonly name: ProfileKindName;
  /** The expected schedule of a profile; null for none. */
  desiredSchedule(sql: Sql, profileId: number, now: Date): Promise<DesiredSchedule | null>;
  /** Starts the run of a planned date (in whole seconds) in one transaction, at most once per profile and date. */
  startRun(profileId: number, scheduledTime: Date, now: Date): Promise<RunStart>;
  /** As `startRun`, for many profiles together: if it throws for one, some or none have started. @returns in order */
  startRuns(dates: readonly RunDate[], now: Date): Promise<RunStart[]>;
  /** Plans further dates when few are left, and updates the schedule. Idempotent. @returns all dates after a change */
  extendSchedule(profileId: number, now: Date): Promise<readonly Date[]>;
  /** Each profile's latest date without a run up to `dueBefore`, by profile; at most some hundred. */
  datesDueBefore(dueBefore: Date, of?: RunDatesOf): Promise<RunDate[]>;
  /** Drops all dates up to `now` without a run and records an event. Idempotent. @param latest - the latest of them */
  skipRun(profileId: number, latest: Date, now: Date): Promise<void>;
  /** Expected schedules by id, with the beginning of their notes. Omits profiles that have just changed. */
  expectedSchedules(now: Date): Promise<ReadonlyMap<string, string>>;
}

/** One profile, or those with ids after one; absent: all. */
export interface RunDatesOf {
  profileId?: number;
  after?: number;
}

export interface RunDate {
  profileId: number;
  scheduledTime: Date;
}

export type ProfileKinds = ReadonlyMap<ProfileKindName, ProfileKind>;
