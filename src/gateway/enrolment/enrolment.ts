import { findOriginal, takeExpectedClone } from '../../persistence/agents/clones.sql.ts';
import {
  addIdentity,
  type EnrolledComputer,
  findEnrollingAccount,
  findLaterRegistration,
  findRepeated,
  insertPendingComputer,
  isPendingFull,
  type LaterRegistration,
  lockRegistration,
} from '../../persistence/agents/enrolment.sql.ts';
import { recordNotices } from '../../persistence/computers/computer-notices.sql.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { acceptComputers } from '../../services/computers/acceptance.ts';
import { digestSecret, secretMatches } from '../../services/identity/login/access-keys.ts';
import type { ProfileRunDeps } from '../../services/scripts/profiles/script-profile-runs.ts';
import { saveFaults } from '../facts/save-facts.ts';
import { hashSecureId, newSecureId } from './identity.ts';
import { isWsl, type Registration, registrationDigest } from './registration.ts';

export type Enrolment =
  | { kind: 'enrolled'; computerId: number; secureId: string; approved: boolean }
  | { kind: 'rejected'; info: 'unknown-account' | 'max-pending-computers' }
  | { kind: 'late' };

/** Assumed maximum network delay of a registration. */
const LATEST_SECONDS = 3600;

/**
 * Enrols a computer, approved or pending. A repeated registration finds the first one's computer while that identity is
 * unused; equal machines share it until one uses it, and the others register again. One older than that of a computer
 * in use only writes an event: it was delayed, or a clock is slow, for {@link LATEST_SECONDS} at most.
 * `simulationKey` is valid for every account; `limitAccount` may throw to reject.
 */
export async function enrol(
  { db, runs, simulationKey = null }: { db: Database; runs: ProfileRunDeps; simulationKey?: string | null },
  registration: Registration,
  now: Date,
  limitAccount: (accountId: number) => void,
): Promise<Enrolment> {
  return db.transaction(async (tx) => {
    const account = await findEnrollingAccount(tx, registration.accountName);
    const isSimulated = simulationKey !== null && keyMatches(simulationKey, registration.password);
    const isAuthorized = isSimulated || keyMatches(account?.registrationKey ?? null, registration.password);
    if (!account || account.disabled || !isAuthorized) return { kind: 'rejected', info: 'unknown-account' };
    limitAccount(account.id);
    const approved = isSimulated || account.autoRegister;
    if (approved) await lockFleetShared(tx, account.id);
    const { digest, existing, isNew } = await identifyMachine(tx, account.id, registration, now);
    const secureId = newSecureId();
    if (existing) {
      await addIdentity(tx, existing, hashSecureId(secureId), registration.madeAt);
      return { kind: 'enrolled', computerId: existing.id, secureId, approved: !existing.pending };
    }
    if (!isNew) return { kind: 'late' };
    if (!approved && (await isPendingFull(tx, account))) return { kind: 'rejected', info: 'max-pending-computers' };
    const secureIdHash = hashSecureId(secureId);
    const computerId = await insertPendingComputer(tx, {
      ...registration,
      accountId: account.id,
      isWsl: isWsl(registration),
      originalHash: registration.cloneSecureId ? hashSecureId(registration.cloneSecureId) : null,
      digest,
      secureIdHash,
      now,
    });
    if (approved) {
      const computerIds = [computerId];
      const acceptance = { accountId: account.id, computerIds, accessGroupId: null, now, traceparent: null };
      await acceptComputers(tx, acceptance, runs);
      // Pending computers get no events.
      await saveFaults(tx, [{ computerId, faults: registration.faults }], now);
    }
    return { kind: 'enrolled', computerId, secureId, approved };
  });
}

interface IdentifiedMachine {
  digest: Buffer;
  existing: EnrolledComputer | undefined;
  isNew: boolean;
}

async function identifyMachine(
  tx: Sql,
  accountId: number,
  registration: Registration,
  now: Date,
): Promise<IdentifiedMachine> {
  const former = registration.cloneSecureId ? hashSecureId(registration.cloneSecureId) : null;
  const original = former && (await findOriginal(tx, accountId, former));
  const digest = registrationDigest(accountId, registration, original?.isOwn ? former : null);
  await lockRegistration(tx, digest);
  const existing = await findRepeated(tx, digest, registration.cloneSecureId !== null);
  const isClone = (existing || original) && (await takeExpectedClone(tx, original, digest, now));
  if (existing && isClone && !original?.isOwn) return { digest, existing: undefined, isNew: true };
  const { madeAt } = registration;
  const mayBeLate = madeAt !== null && registration.cloneSecureId === null && !existing && !original;
  const later = mayBeLate ? await findLaterRegistration(tx, digest, madeAt, LATEST_SECONDS) : undefined;
  if (later) await reportOutdatedRegistration(tx, later, madeAt!, now);
  return { digest, existing, isNew: !later };
}

function keyMatches(key: string | null, given: string | null): boolean {
  return !key || secretMatches(given ?? '', digestSecret(key));
}

async function reportOutdatedRegistration(tx: Sql, later: LaterRegistration, madeAt: number, now: Date): Promise<void> {
  const at = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const message =
    `A registration was not accepted: by the clock of the machine it was made at ${at(madeAt)}, which is not after ` +
    `the registration of this computer at ${at(later.madeAt)}. Check the clock of the machine: it is accepted when it ` +
    'registers again and its clock is past that time.';
  await recordNotices(tx, [{ computerId: later.id, subject: 'late registration', message }], now);
}
