import { DAY_MS } from '../../domain/common/durations.ts';
import { tooMany } from '../../domain/common/errors.ts';
import { ADMINISTRATOR_ROLE } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  claimInvitation,
  findInvitation,
  findInvitationBySecureId,
  type InvitationRow,
  insertInvitation,
  listInvitations,
} from '../../persistence/identity/invitations.repository.ts';
import { countInvitation, uncountInvitation } from '../../persistence/identity/mail-limits.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { findRoleReach } from '../../persistence/identity/rights.sql.ts';
import { readEmail, readLine } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';
import type { MailingDeps } from './email-changes.service.ts';
import { guardInvitation } from './invitation-guard.ts';
import { acceptInvitation, consumeInvitation, unknownInvitation } from './joining.ts';
import { LETTERS_AND_DIGITS, randomText } from './login/access-keys.ts';
import type { LoginThrottle } from './login/login-throttle.ts';
import { invitationMail } from './mails.ts';
import { record } from './record.ts';
import { resolveRoles } from './resolve-names.ts';
import { changeRights } from './rights-change.ts';

interface WantedInvitation {
  name: string;
  email: string;
  /** Default: `GlobalAdmin`. */
  roles: readonly string[] | undefined;
  /** Only the person with this address may accept the invitation. */
  bound: boolean;
}

interface InvitationsDeps extends MailingDeps {
  throttle: LoginThrottle;
  invitationDays: number;
}

const SECURE_ID_LENGTH = 30;

export type InvitationsService = ReturnType<typeof createInvitationsService>;

export function createInvitationsService(deps: InvitationsDeps) {
  const { db, clock, throttle } = deps;
  const mail = (caller: Caller, invitation: InvitationRow) =>
    deps.mailer.send(invitationMail(invitation, { ...deps, inviter: caller.name }));
  const guard = <T>({ personId, origin }: Caller, work: (tx: Sql) => Promise<T>) =>
    guardInvitation(throttle, { personId, address: origin.address }, () => db.transaction(work));
  return {
    /** One page of open invitations, oldest first. Secret ids are empty for callers who may not invite. */
    async list(caller: Caller, page: PageRequest) {
      const { count, results } = await listInvitations(db, caller.accountId, clock.now(), page);
      const maySeeIds = await maySeeSecureIds(db, caller);
      return { count, results: results.map((row) => toVisible(row, maySeeIds)) };
    },
    /** As in `list`. @throws {DomainError} UnknownInvitation, also when expired */
    get: async (caller: Caller, id: number) =>
      toVisible(await requireInvitation(db, caller, id, clock.now()), await maySeeSecureIds(db, caller)),
    /** Stores it and mails it; the mail may fail. @throws InvalidParameter, UnknownRole (400), TooManyRequests */
    async create(caller: Caller, given: WantedInvitation) {
      const stored = await changeRights(deps, caller, async (tx, limit) => {
        const { accountId } = caller;
        const creationTime = clock.now();
        const expiresAt = new Date(creationTime.getTime() + deps.invitationDays * DAY_MS);
        const name = readLine('body.name', given.name);
        const email = readEmail('body.email', given.email);
        const roles = given.roles ?? [ADMINISTRATOR_ROLE];
        const roleIds = await resolveRoles(tx, accountId, roles);
        await limit(roleIds);
        await countWithinLimit(tx, caller, email, creationTime);
        const secureId = randomText(LETTERS_AND_DIGITS, SECURE_ID_LENGTH);
        const invitation = { secureId, name, email, bound: given.bound, creationTime, expiresAt };
        const id = await insertInvitation(tx, accountId, invitation, roleIds);
        const message = `Invited ${name} <${email}> as ${[...new Set(roles)].join(', ')}`;
        await record(tx, caller, 'Invitation', { id, name }, message);
        return requireInvitation(tx, caller, id, creationTime);
      });
      // Not awaited: a mail server may be slow, and the mailer logs failures.
      void mail(caller, stored).catch(() => undefined);
      return { id: stored.id, secureId: stored.secure_id };
    },
    /** Mails an invitation again. @throws {DomainError} UnknownInvitation, MailQueueUnavailable, TooManyRequests */
    async resend(caller: Caller, id: number): Promise<InvitationRow> {
      const at = clock.now();
      const row = await db.transaction(async (tx) => {
        await lockRights(tx, caller.accountId);
        const found = await requireInvitation(tx, caller, id, at);
        await countWithinLimit(tx, caller, found.email, at);
        return found;
      });
      try {
        await mail(caller, row);
      } catch (error) {
        await uncountInvitation(db, caller.accountId, row.email, at);
        throw error;
      }
      return row;
    },
    /** @throws {DomainError} UnknownInvitation, also when expired */
    remove: (caller: Caller, id: number) =>
      changeRights(deps, caller, async (tx) => {
        const row = await requireInvitation(tx, caller, id, clock.now());
        await claimInvitation(tx, id);
        await record(tx, caller, 'Invitation', row, `Withdrew the invitation of ${row.name} <${row.email}>`);
      }),
    /** The account does not become current. @throws UnknownInvitation, also when expired; Forbidden, TooManyRequests */
    async accept(caller: Caller, secureId: string) {
      const now = clock.now();
      const joined = await guard(caller, (tx) => acceptInvitation(tx, secureId, caller, now));
      deps.authenticator.invalidate({ personId: caller.personId });
      return { accountId: joined.account_id, accountTitle: joined.account_title };
    },
    /** Deletes it; recorded in its account. @throws as `accept` */
    reject: (caller: Caller, secureId: string) =>
      guard(caller, async (tx) => {
        const taken = await consumeInvitation(tx, secureId, caller.personId, clock.now());
        const message = `${caller.name} <${caller.email}> rejected the invitation of ${taken.name} <${taken.email}>`;
        await record(tx, { ...caller, accountId: taken.account_id }, 'Invitation', taken, message);
      }),
    /** Public details of an invitation, before login. @throws {DomainError} UnknownInvitation, TooManyRequests */
    summary: (address: string, secureId: string) =>
      guardInvitation(throttle, { personId: null, address }, async () => {
        const found = await findInvitationBySecureId(db, secureId, clock.now());
        if (!found) throw unknownInvitation();
        return { accountTitle: found.account_title, secureId };
      }),
  };
}

/** A secret id grants roles, so callers who may not assign every role must not see it. */
async function maySeeSecureIds(sql: Sql, caller: Caller): Promise<boolean> {
  return caller.may('ManageRole') && (await findRoleReach(sql, caller)) === null;
}

function toVisible(row: InvitationRow, maySeeId: boolean): InvitationRow {
  return maySeeId ? row : { ...row, secure_id: '' };
}

/** Per account and address, so that invitations cannot flood a mailbox. */
const MAX_PER_DAY = 10;

async function countWithinLimit(tx: Sql, { accountId }: Caller, email: string, at: Date): Promise<void> {
  const since = new Date(at.getTime() - DAY_MS);
  const oldest = await countInvitation(tx, { accountId, email, at, since, most: MAX_PER_DAY });
  if (oldest) throw tooMany(`No more than ${MAX_PER_DAY} invitations a day go to one address`, oldest, DAY_MS, at);
}

async function requireInvitation(sql: Sql, caller: Caller, id: number, now: Date): Promise<InvitationRow> {
  const found = await findInvitation(sql, caller.accountId, id, now);
  if (!found) throw unknownInvitation();
  return found;
}
