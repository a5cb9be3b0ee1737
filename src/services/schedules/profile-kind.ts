import type { DesiredSchedule } from '../../domain/schedules/desired-schedule.ts';
import type { DueOutcome } from '../../domain/schedules/due-outcome.ts';
import type { ProfileKindName } from '../../domain/schedules/schedule-id.ts';
import type { Sql } from '../../persistence/database/sql.ts';

/**
 * A kind of profile that schedules start. To make another kind run by schedules, name it in `PROFILE_KINDS`, implement
 * this, add it to {@link ProfileKinds} where workers are put together (`workers/profile-kinds.ts`) and its runs to what
 * the dispatcher reads of a group (`src/persistence/engine/startable.repository.ts`); write an outbox command with `orderScheduleSync` in every
 * transaction that changes what `desired` answers. Trigger, refill, repair and the schedules on the server are shared.
 *
 * @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileKind {
  readonly name: ProfileKindName;
  /** What the schedule of a profile should be now; null: there should be none. */
  desired(sql: Sql, profileId: number, now: Date): Promise<DesiredSchedule | null>;
  /**
   * Starts the run of one date, in one transaction.
   *
   * @param nominalTime - the date it was planned for, in whole seconds
   * @remarks At most one run per profile and date, however often and from wherever it is called.
   */
  startDue(profileId: number, nominalTime: Date, now: Date): Promise<DueOutcome>;
  /** Plans further dates when few are left, and orders the schedule to follow. Idempotent. */
  refill(profileId: number, now: Date): Promise<void>;
  /** The latest date of each profile, or of one, that was due at `dueBefore` and has no run; at most some hundreds. */
  missed(dueBefore: Date, profileId?: number): Promise<MissedDate[]>;
  /**
   * Lets every date up to `now` go without a run, with an event. Idempotent.
   *
   * @param latest - the latest of those dates
   */
  passOver(profileId: number, latest: Date, now: Date): Promise<void>;
  /** The schedules there should be, of profiles that were not just made or changed: by id, how the note of each begins. */
  expected(now: Date): Promise<ReadonlyMap<string, string>>;
}

export interface MissedDate {
  profileId: number;
  nominalTime: Date;
}

/** The kinds that are there, by name. */
export type ProfileKinds = ReadonlyMap<ProfileKindName, ProfileKind>;
