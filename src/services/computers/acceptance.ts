import { lockFleetShared } from '../../persistence/computers/fleet-lock.ts';
import { approveComputers } from '../../persistence/computers/pending-computers.repository.ts';
import {
  lockEnrolmentProfiles,
  matchEnrolmentProfiles,
} from '../../persistence/scripts/script-profile-runs.repository.ts';
import { readScriptProfile } from '../../persistence/scripts/script-profiles.repository.ts';
import { joinFamilies } from '../../persistence/computers/wsl-families.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type ProfileRunDeps, startEnrolmentRuns } from '../scripts/profiles/script-profile-runs.ts';

/** Computers of one account to accept. */
export interface Acceptance {
  accountId: number;
  computerIds: readonly number[];
  /** Access group they move to; null: they stay in theirs. */
  accessGroupId: number | null;
  now: Date;
  /** W3C trace context of the request that accepts them; null for none. */
  traceparent: string | null;
}

/**
 * Takes the locks of an acceptance. Whoever accepts computers calls it before locking any of their rows.
 *
 * See {@link lockFleetShared}.
 */
export async function beginAcceptance(tx: Sql, accountId: number): Promise<void> {
  await lockFleetShared(tx, accountId);
}

/**
 * Accepts pending computers, whether an administrator does so or the account registers them automatically. Everything
 * that follows an enrolment happens in the same transaction: WSL instances are linked to their hosts, and script profiles
 * with the event `post_enrollment` run on the computers in their scope.
 * @remarks Computers that are not pending stay as they are, and nothing runs on them again. Agents learn of it at their
 * next exchange, which a ping triggers. The caller holds {@link beginAcceptance}.
 * @see docs/api-conventions.md#triggers-and-runs
 */
export async function acceptComputers(tx: Sql, acceptance: Acceptance, deps: ProfileRunDeps): Promise<void> {
  const { accountId, computerIds, accessGroupId, now, traceparent } = acceptance;
  const accepted = await approveComputers(tx, computerIds, accessGroupId, now);
  if (accepted.length === 0) return;
  await joinFamilies(tx, accountId, accepted);
  if (!(await lockEnrolmentProfiles(tx, accountId))) return;
  const ids = accepted.map(({ id }) => id);
  for (const { id, computers } of await matchEnrolmentProfiles(tx, accountId, ids)) {
    await startEnrolmentRuns(tx, (await readScriptProfile(tx, id))!, computers, { now, traceparent }, deps);
  }
}
