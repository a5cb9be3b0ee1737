import type { Router } from 'express';
import type { InvitationsService } from '../../services/identity/invitations.service.ts';
import { formatTime } from '../common/time.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function invitationsRoutes({ operation, services: { invitations } }: RouteDeps): Router {
  const listInvitations: Handler<'listInvitations'> = async (context) =>
    envelope(context, await invitations.list(context.caller, pageOf(context)), toInvitationResponse);
  const createInvitation: Handler<'createInvitation'> = async ({ caller, body }) => {
    const { name, email, roles, bind_to_email: bound = false } = body;
    const { id, secureId } = await invitations.create(caller, { name, email, roles: roles ?? undefined, bound });
    return { id, secure_id: secureId };
  };
  const getInvitation: Handler<'getInvitation'> = async ({ caller, params }) =>
    toInvitationResponse(await invitations.get(caller, params.invitation_id));
  const resendInvitation: Handler<'resendInvitation'> = async ({ caller, params }) =>
    toInvitationResponse(await invitations.resend(caller, params.invitation_id));
  const deleteInvitation: Handler<'deleteInvitation'> = ({ caller, params }) =>
    invitations.remove(caller, params.invitation_id);
  const getInvitationSummary: Handler<'getInvitationSummary'> = async ({ params, origin }) => {
    const { accountTitle, secureId } = await invitations.summary(origin.address, params.secure_id);
    return { account_title: accountTitle, secure_id: secureId };
  };
  const acceptInvitation: Handler<'acceptInvitation'> = async ({ caller, body }) => {
    const { accountId, accountTitle } = await invitations.accept(caller, body.invitation_id);
    return { account_id: accountId, account_title: accountTitle };
  };
  const rejectInvitation: Handler<'rejectInvitation'> = ({ caller, body }) =>
    invitations.reject(caller, body.invitation_id);
  return createRouter()
    .get('/invitations', operation('listInvitations', listInvitations))
    .post('/invitations', operation('createInvitation', createInvitation))
    .get('/invitations/:invitation_id', operation('getInvitation', getInvitation))
    .post('/invitations/:invitation_id', operation('resendInvitation', resendInvitation))
    .delete('/invitations/:invitation_id', operation('deleteInvitation', deleteInvitation))
    .get('/invitations/:secure_id/summary', operation('getInvitationSummary', getInvitationSummary))
    .post('/accept-invitation', operation('acceptInvitation', acceptInvitation))
    .post('/reject-invitation', operation('rejectInvitation', rejectInvitation));
}

type Invitation = Awaited<ReturnType<InvitationsService['get']>>;

function toInvitationResponse(invitation: Invitation): components['schemas']['Invitation'] {
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
