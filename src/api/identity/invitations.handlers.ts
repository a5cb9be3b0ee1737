import type { InvitationsService } from '../../services/identity/invitations.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function invitationsHandlers({ invitations }: Services) {
  return {
    listInvitations: async (context) =>
      envelope(context, await invitations.list(context.caller, pageOf(context)), toInvitationResponse),
    createInvitation: async ({ caller, body }) => {
      const { name, email, roles, bind_to_email: bound = false } = body;
      const { id, secureId } = await invitations.create(caller, { name, email, roles: roles ?? undefined, bound });
      return { id, secure_id: secureId };
    },
    getInvitation: async ({ caller, params }) =>
      toInvitationResponse(await invitations.get(caller, params.invitation_id)),
    resendInvitation: async ({ caller, params }) =>
      toInvitationResponse(await invitations.resend(caller, params.invitation_id)),
    deleteInvitation: ({ caller, params }) => invitations.remove(caller, params.invitation_id),
    getInvitationSummary: async ({ params, origin }) => {
      const { accountTitle, secureId } = await invitations.summary(origin.address, params.secure_id);
      return { account_title: accountTitle, secure_id: secureId };
    },
    acceptInvitation: async ({ caller, body }) => {
      const { accountId, accountTitle } = await invitations.accept(caller, body.invitation_id);
      return { account_id: accountId, account_title: accountTitle };
    },
    rejectInvitation: ({ caller, body }) => invitations.reject(caller, body.invitation_id),
  } satisfies Handlers;
}

type Invitation = Awaited<ReturnType<InvitationsService['get']>>;

function toInvitationResponse(invitation: Invitation): Schemas['Invitation'] {
  return {
    id: invitation.id,
    secure_id: invitation.secure_id,
    account: invitation.account,
    name: invitation.name,
    email: invitation.email,
    creation_time: formatTime(invitation.creation_time),
    expires_at: formatTime(invitation.expires_at),
    bind_to_email: invitation.bound,
  };
}
