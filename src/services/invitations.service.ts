import { randomInt } from 'node:crypto';
import { ADMINISTRATOR_ROLE } from '../domain/permissions.ts';
import type { PageRequest } from '../persistence/page.ts';
import type { Paged } from '../persistence/repositories/administrators.repository.ts';
import { recordEvent } from '../persistence/repositories/events.repository.ts';
import {
  findInvitation,
  findInvitationBySecureId,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  takeInvitation,
} from '../persistence/repositories/invitations.repository.ts';
import { lockRights } from '../persistence/repositories/rights-lock.ts';
import type { Sql } from '../persistence/sql.ts';
import { readEmail, readLine } from './fields.ts';
import type { InvitationGuard } from './invitation-guard.ts';
import { invitationMail } from './invitation-mail.ts';
import { acceptInvitation, type Joined, recordJoining, unknownInvitation } from './joining.ts';
import { resolveRoles } from './names-in-body.ts';
import type { Caller, Clock, Mailer } from './ports.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

export interface InvitationsService {
  /** One page of open invitations, oldest first. Their secret ids are empty for callers who could not invite. */
  list(caller: Caller, page: PageRequest): Promise<Paged<InvitationRow>>;
  /** @throws {DomainError} UnknownInvitation */
  get(caller: Caller, id: number): Promise<InvitationRow>;
  /**
   * Stores an invitation and has it mailed; that the mail fails changes nothing.
   *
   * @param invitation.roles - `GlobalAdmin` by default
   * @throws {DomainError} InvalidParameter, UnknownRole (400)
   * @see API specification, "Invitations"; api-decisions 11.3
   */
  create(
    caller: Caller,
    invitation: { name: string; email: string; roles: readonly string[] | undefined },
  ): Promise<{ id: number; secureId: string }>;
  /** Mails an invitation again. @throws {DomainError} UnknownInvitation, MailQueueUnavailable */
  resend(caller: Caller, id: number): Promise<InvitationRow>;
  /** Withdraws an invitation. @throws {DomainError} UnknownInvitation */
  remove(caller: Caller, id: number): Promise<void>;
  /**
   * Makes the caller an administrator of the inviting account, which does not become current.
   *
   * @throws {DomainError} UnknownInvitation when unknown or used, TooManyRequests
   */
  accept(caller: Caller, secureId: string): Promise<Joined>;
  /** Uses an invitation up without joining. @throws {DomainError} UnknownInvitation, TooManyRequests */
  reject(caller: Caller, secureId: string): Promise<void>;
  /** What the holder of an invitation may know before logging in. @throws {DomainError} UnknownInvitation, TooManyRequests */
  summary(address: string, secureId: string): Promise<{ accountTitle: string; secureId: string }>;
}

export interface InvitationsDeps extends RightsChangeDeps {
  clock: Clock;
  mailer: Mailer;
  guard: InvitationGuard;
  /** Base of the address in mails, without a trailing slash. */
  publicUrl: string;
}

const SECURE_ID_LENGTH = 30;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function createInvitationsService(deps: InvitationsDeps): InvitationsService {
  const { db, guard } = deps;
  const mail = (caller: Caller, { email, name, account, secure_id }: InvitationRow) =>
    deps.mailer.send(
      invitationMail({ email, name, account, inviter: caller.name, secureId: secure_id, publicUrl: deps.publicUrl }),
    );
  const by = ({ personId, origin }: Caller) => ({ personId, address: origin.address });
  return {
    async list(caller, page) {
      const { count, results } = await listInvitations(db, caller.accountId, page);
      return { count, results: results.map((row) => shownTo(caller, row)) };
    },
    get: async (caller, id) => shownTo(caller, await requireInvitation(db, caller, id)),
    async create(caller, invitation) {
      const stored = await changeRights(deps, caller, (tx) => create(tx, caller, invitation, deps.clock.now()));
      // Not waited for: a mail server takes its time, and what goes wrong is in its log.
      void mail(caller, stored).catch(() => undefined);
      return { id: stored.id, secureId: stored.secure_id };
    },
    async resend(caller, id) {
      const row = await requireInvitation(db, caller, id);
      await mail(caller, row);
      return row;
    },
    remove: (caller, id) => changeRights(deps, caller, (tx) => remove(tx, caller, id)),
    async accept(caller, secureId) {
      const joined = await guard.guard(by(caller), () => db.transaction((tx) => accept(tx, caller, secureId)));
      deps.authenticator.forget({ personId: caller.personId });
      return joined;
    },
    reject: (caller, secureId) => guard.guard(by(caller), () => db.transaction((tx) => reject(tx, caller, secureId))),
    summary: (address, secureId) =>
      guard.guard({ personId: null, address }, async () => {
        const found = await findInvitationBySecureId(db, secureId);
        if (!found) throw unknownInvitation();
        return { accountTitle: found.account_title, secureId };
      }),
  };
}

/** A secret id is a role to take: readers who may not give roles must not get one by it. */
function shownTo(caller: Caller, row: InvitationRow): InvitationRow {
  return caller.may('ManageRole') ? row : { ...row, secure_id: '' };
}

function newSecureId(): string {
  return Array.from({ length: SECURE_ID_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

async function create(
  tx: Sql,
  caller: Caller,
  given: { name: string; email: string; roles: readonly string[] | undefined },
  at: Date,
): Promise<InvitationRow> {
  const { accountId } = caller;
  const name = readLine('body.name', given.name);
  const email = readEmail('body.email', given.email);
  const roles = given.roles ?? [ADMINISTRATOR_ROLE];
  const roleIds = await resolveRoles(tx, accountId, roles);
  const id = await insertInvitation(tx, { accountId, secureId: newSecureId(), name, email, at }, roleIds);
  const message = `Invited ${name} <${email}> as ${[...new Set(roles)].join(', ')}`;
  await recordEvent(tx, caller, eventOf({ id, name }, message));
  return (await findInvitation(tx, accountId, id))!;
}

async function remove(tx: Sql, caller: Caller, id: number): Promise<void> {
  const row = await requireInvitation(tx, caller, id);
  await takeInvitation(tx, id);
  await recordEvent(tx, caller, eventOf(row, `Withdrew the invitation of ${row.name} <${row.email}>`));
}

async function accept(tx: Sql, caller: Caller, secureId: string): Promise<Joined> {
  const joined = await acceptInvitation(tx, secureId, caller.personId);
  await recordJoining(tx, caller, joined);
  return joined;
}

async function reject(tx: Sql, caller: Caller, secureId: string): Promise<void> {
  const found = await findInvitationBySecureId(tx, secureId);
  if (!found) throw unknownInvitation();
  await lockRights(tx, found.account_id);
  if (!(await takeInvitation(tx, found.id))) throw unknownInvitation();
  const message = `${caller.name} <${caller.email}> rejected the invitation of ${found.name} <${found.email}>`;
  await recordEvent(tx, { ...caller, accountId: found.account_id }, eventOf(found, message));
}

async function requireInvitation(sql: Sql, caller: Caller, id: number): Promise<InvitationRow> {
  const found = await findInvitation(sql, caller.accountId, id);
  if (!found) throw unknownInvitation();
  return found;
}

function eventOf({ id, name }: { id: number; name: string }, message: string) {
  return { entityType: 'Invitation' as const, entityId: id, entityName: name, message };
}
