import type { DesiredSchedule, DueOutcome, ProfileKindName } from '../../domain/schedules/profile-schedule.ts';
import type { Sql } from '../../persistence/database/sql.ts';

/**
 * A kind of profile that schedules start. To add a kind, name it in `PROFILE_KINDS`, implement this interface, register
 * it in `workers/profile-kinds.ts`, add its runs to `src/persistence/engine/startable.repository.ts`, and call
 * `enqueueScheduleSync` in every transaction that changes what `desiredSchedule` returns. The trigger workflow, refilling,
 * repair and the schedules on the server are shared.
 * @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileKind {
  readonly name: ProfileKindName;
  /** What the schedule of a profile should be now; null: there should be none. */
  desiredSchedule(sql: Sql, profileId: number, now: Date): Promise<DesiredSchedule | null>;
  /**
   * Starts the run of one date, in one transaction.
   * @param scheduledTime - the date it was planned for, in whole seconds
   * @remarks At most one run per profile and date, however often and by whomever it is called.
   */
  startDueRun(profileId: number, scheduledTime: Date, now: Date): Promise<DueOutcome>;
  /** Plans further dates when few are left, and updates the schedule. Idempotent. */
  refill(profileId: number, now: Date): Promise<void>;
  /** The latest date of each profile, or of one, that was due at `dueBefore` and has no run; some hundreds at most. */
  missedRuns(dueBefore: Date, profileId?: number): Promise<MissedRun[]>;
  /**
   * Drops all dates up to `now` without a run, and records an event. Idempotent.
   * @param latest - the latest of those dates
   */
  skipRun(profileId: number, latest: Date, now: Date): Promise<void>;
  /** Schedules that should exist, by id, with the beginning of their notes. Leaves out profiles that just changed. */
  expectedSchedules(now: Date): Promise<ReadonlyMap<string, string>>;
}

export interface MissedRun {
  profileId: number;
  scheduledTime: Date;
}

export type ProfileKinds = ReadonlyMap<ProfileKindName, ProfileKind>;
