import { randomInt } from 'node:crypto';
import { DAY_MS } from '../../domain/common/durations.ts';
import { tooMany } from '../../domain/common/errors.ts';
import { ADMINISTRATOR_ROLE } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Paged } from '../../persistence/identity/administrators.repository.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import {
  countInvitation,
  findInvitation,
  findInvitationBySecureId,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  claimInvitation,
  uncountInvitation,
} from '../../persistence/identity/invitations.repository.ts';
import { findRoleReach, lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { readEmail, readLine } from '../common/fields.ts';
import type { InvitationGuard } from './invitation-guard.ts';
import { invitationMail } from './mails.ts';
import { acceptInvitation, type Joined, recordJoining, requireOpenTo, unknownInvitation } from './joining.ts';
import { resolveRoles } from './resolve-names.ts';
import type { Caller, Clock, Mailer } from '../common/ports.ts';
import { changeRights, type RightsChangeDeps, type RoleLimit } from './rights-change.ts';

export interface InvitationsService {
  /** One page of open invitations, oldest first. Secret ids are empty for callers who may not invite. */
  list(caller: Caller, page: PageRequest): Promise<Paged<InvitationRow>>;
  /** @throws {DomainError} UnknownInvitation */
  get(caller: Caller, id: number): Promise<InvitationRow>;
  /**
   * Stores an invitation and mails it; a failed mail does not affect it.
   * @throws {DomainError} InvalidParameter, UnknownRole (400); TooManyRequests for too many invitations of an address
   */
  create(caller: Caller, invitation: WantedInvitation): Promise<{ id: number; secureId: string }>;
  /** Mails an invitation again. @throws {DomainError} UnknownInvitation, MailQueueUnavailable, TooManyRequests */
  resend(caller: Caller, id: number): Promise<InvitationRow>;
  /** Withdraws an invitation. @throws {DomainError} UnknownInvitation */
  remove(caller: Caller, id: number): Promise<void>;
  /**
   * Adds the caller to the inviting account, which does not become current.
   * @throws {DomainError} UnknownInvitation, also when used or expired; Forbidden for other addresses; TooManyRequests
   */
  accept(caller: Caller, secureId: string): Promise<Joined>;
  /** Deletes an invitation without joining. Throws as `accept`. */
  reject(caller: Caller, secureId: string): Promise<void>;
  /** Public details of an invitation, before login. @throws {DomainError} UnknownInvitation, TooManyRequests */
  summary(address: string, secureId: string): Promise<{ accountTitle: string; secureId: string }>;
}

export interface WantedInvitation {
  name: string;
  email: string;
  /** Default: `GlobalAdmin`. */
  roles: readonly string[] | undefined;
  /** Only the person with this address may accept the invitation. */
  bound: boolean;
}

export interface InvitationsDeps extends RightsChangeDeps {
  clock: Clock;
  mailer: Mailer;
  guard: InvitationGuard;
  /** Base URL of links in mails, without a trailing slash. */
  publicUrl: string;
  invitationDays: number;
}

const SECURE_ID_LENGTH = 30;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function createInvitationsService(deps: InvitationsDeps): InvitationsService {
  const { db, guard } = deps;
  const mail = (caller: Caller, invitation: InvitationRow) =>
    deps.mailer.send(invitationMail(invitation, { inviter: caller.name, publicUrl: deps.publicUrl }));
  const by = ({ personId, origin }: Caller) => ({ personId, address: origin.address });
  return {
    async list(caller, page) {
      const { count, results } = await listInvitations(db, caller.accountId, deps.clock.now(), page);
      const maySeeIds = await maySeeSecureIds(db, caller);
      return { count, results: results.map((row) => toVisible(row, maySeeIds)) };
    },
    get: async (caller, id) =>
      toVisible(await requireInvitation(db, caller, id, deps.clock.now()), await maySeeSecureIds(db, caller)),
    async create(caller, invitation) {
      const stored = await changeRights(deps, caller, (tx, limit) => create(deps, tx, limit, caller, invitation));
      // Not awaited: a mail server may be slow, and the mailer logs failures.
      void mail(caller, stored).catch(() => undefined);
      return { id: stored.id, secureId: stored.secure_id };
    },
    async resend(caller, id) {
      const at = deps.clock.now();
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
    remove: (caller, id) => changeRights(deps, caller, (tx) => remove(tx, caller, id, deps.clock.now())),
    async accept(caller, secureId) {
      const now = deps.clock.now();
      const joined = await guard.guard(by(caller), () => db.transaction((tx) => accept(tx, caller, secureId, now)));
      deps.authenticator.invalidate({ personId: caller.personId });
      return joined;
    },
    reject: (caller, secureId) =>
      guard.guard(by(caller), () => db.transaction((tx) => reject(tx, caller, secureId, deps.clock.now()))),
    summary: (address, secureId) =>
      guard.guard({ personId: null, address }, async () => {
        const found = await findInvitationBySecureId(db, secureId, deps.clock.now());
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

function newSecureId(): string {
  return Array.from({ length: SECURE_ID_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Per account and address, so that invitations cannot flood a mailbox. */
const MAX_PER_DAY = 10;

async function countWithinLimit(tx: Sql, { accountId }: Caller, email: string, at: Date): Promise<void> {
  const since = new Date(at.getTime() - DAY_MS);
  const oldest = await countInvitation(tx, { accountId, email, at, since, most: MAX_PER_DAY });
  if (oldest) throw tooMany(`No more than ${MAX_PER_DAY} invitations a day go to one address`, oldest, DAY_MS, at);
}

async function create(
  { clock, invitationDays }: InvitationsDeps,
  tx: Sql,
  limit: RoleLimit,
  caller: Caller,
  given: WantedInvitation,
): Promise<InvitationRow> {
  const { accountId } = caller;
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + invitationDays * DAY_MS);
  const name = readLine('body.name', given.name);
  const email = readEmail('body.email', given.email);
  const roles = given.roles ?? [ADMINISTRATOR_ROLE];
  const roleIds = await resolveRoles(tx, accountId, roles);
  await limit(tx, roleIds);
  await countWithinLimit(tx, caller, email, at);
  const invitation = { accountId, secureId: newSecureId(), name, email, bound: given.bound, at, expiresAt };
  const id = await insertInvitation(tx, invitation, roleIds);
  const message = `Invited ${name} <${email}> as ${[...new Set(roles)].join(', ')}`;
  await recordEvent(tx, caller, eventOf({ id, name }, message));
  return (await findInvitation(tx, accountId, id, at))!;
}

async function remove(tx: Sql, caller: Caller, id: number, now: Date): Promise<void> {
  const row = await requireInvitation(tx, caller, id, now);
  await claimInvitation(tx, id);
  await recordEvent(tx, caller, eventOf(row, `Withdrew the invitation of ${row.name} <${row.email}>`));
}

async function accept(tx: Sql, caller: Caller, secureId: string, now: Date): Promise<Joined> {
  const joined = await acceptInvitation(tx, { secureId, personId: caller.personId, now });
  await recordJoining(tx, caller, joined);
  return joined;
}

async function reject(tx: Sql, caller: Caller, secureId: string, now: Date): Promise<void> {
  const found = await findInvitationBySecureId(tx, secureId, now);
  if (!found) throw unknownInvitation();
  await lockRights(tx, found.account_id);
  await requireOpenTo(tx, found.id, caller.personId);
  if (!(await claimInvitation(tx, found.id))) throw unknownInvitation();
  const message = `${caller.name} <${caller.email}> rejected the invitation of ${found.name} <${found.email}>`;
  await recordEvent(tx, { ...caller, accountId: found.account_id }, eventOf(found, message));
}

async function requireInvitation(sql: Sql, caller: Caller, id: number, now: Date): Promise<InvitationRow> {
  const found = await findInvitation(sql, caller.accountId, id, now);
  if (!found) throw unknownInvitation();
  return found;
}

function eventOf({ id, name }: { id: number; name: string }, message: string) {
  return { entityType: 'Invitation' as const, entityId: id, entityName: name, message };
}
