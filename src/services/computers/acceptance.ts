import { approveComputers } from '../../persistence/computers/pending-computers.sql.ts';
import { lockEnrolmentProfiles, matchEnrolmentProfiles } from '../../persistence/scripts/script-profile-runs.sql.ts';
import { readScriptProfile } from '../../persistence/scripts/script-profiles.sql.ts';
import { joinFamilies } from '../../persistence/computers/wsl-families.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type ProfileRunDeps, startEnrolmentRuns } from '../scripts/profiles/script-profile-runs.ts';

export interface Acceptance {
  accountId: number;
  computerIds: readonly number[];
  /** Target access group; null: unchanged. */
  accessGroupId: number | null;
  now: Date;
  traceparent: string | null;
}

/** Accepts pending ones after `lockFleetShared`; runs profiles. @see docs/api-conventions.md#triggers-and-runs */
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
