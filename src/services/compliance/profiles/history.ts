import { listUsgAudits, listUsgRuns, readComplianceDays } from '../../../persistence/compliance/usg-compliance.sql.ts';
import type { PageRequest } from '../../../persistence/database/page.ts';
import { requireVisible as requireVisibleComputers } from '../../activities/targets.ts';
import type { Caller } from '../../common/ports.ts';
import type { UsgProfilesDeps } from './model.ts';
import { requireVisible } from './reads.ts';

/** Results by day, of one profile or of all active ones. @throws {DomainError} UnknownUsgProfile */
export async function readCompliance(
  { db, clock }: UsgProfilesDeps,
  caller: Caller,
  { days, profileId }: { days: number; profileId: number | null },
) {
  if (profileId !== null) await requireVisible(db, caller, profileId);
  const filter = { accountId: caller.accountId, view: caller.groups('ViewUsgProfile'), profileId, days };
  return readComplianceDays(db, filter, clock.now());
}

/** One page of runs, newest first. @throws {DomainError} UnknownUsgProfile */
export async function listRuns({ db }: UsgProfilesDeps, caller: Caller, id: number, page: PageRequest) {
  await requireVisible(db, caller, id);
  return listUsgRuns(db, id, page);
}

/** One page of the audits of a computer by visible profiles, newest first. @throws {DomainError} UnknownComputer */
export async function listAudits({ db }: UsgProfilesDeps, caller: Caller, computer: number, page: PageRequest) {
  await requireVisibleComputers(db, caller, [computer]);
  const filter = { accountId: caller.accountId, computer, view: caller.groups('ViewUsgProfile') };
  return listUsgAudits(db, filter, page);
}

/** Up to `limit` dates after now; none of an archived profile. @throws {DomainError} UnknownUsgProfile */
export async function listDates({ db, clock }: UsgProfilesDeps, caller: Caller, id: number, limit: number) {
  const { planned_dates: planned, archived, timezone } = await requireVisible(db, caller, id);
  const now = clock.now();
  return { timezone, dates: archived ? [] : planned.filter((date) => date > now).slice(0, limit) };
}
