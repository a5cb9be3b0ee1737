import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { InvitationView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function invitationsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'invitations'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { invitations } = deps.services;
  const listInvitations: Handler<'listInvitations'> = async (context) => {
    const { count, results } = await invitations.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toInvitationResponse) }) };
  };
  const createInvitation: Handler<'createInvitation'> = async ({ caller, body }) => {
    const { name, email, roles, bind_to_email: bound = false } = body;
    const wanted = { name, email, roles: roles ?? undefined, bound };
    const { id, secureId } = await invitations.create(caller, wanted);
    return { status: 201, body: { id, secure_id: secureId } satisfies Schemas['NewInvitation'] };
  };
  const getInvitation: Handler<'getInvitation'> = async ({ caller, params }) => {
    return { body: toInvitationResponse(await invitations.get(caller, params.invitation_id)) };
  };
  const resendInvitation: Handler<'resendInvitation'> = async ({ caller, params }) => {
    return { body: toInvitationResponse(await invitations.resend(caller, params.invitation_id)) };
  };
  const deleteInvitation: Handler<'deleteInvitation'> = async ({ caller, params }) => {
    await invitations.remove(caller, params.invitation_id);
    return { status: 204 };
  };
  const getInvitationSummary: Handler<'getInvitationSummary'> = async ({ params, origin }) => {
    const { accountTitle, secureId } = await invitations.summary(origin.address, params.secure_id);
    return { body: { account_title: accountTitle, secure_id: secureId } satisfies Schemas['InvitationSummary'] };
  };
  const acceptInvitation: Handler<'acceptInvitation'> = async ({ caller, body }) => {
    const { invitation_id } = body;
    const { accountId, accountTitle } = await invitations.accept(caller, invitation_id);
    return { body: { account_id: accountId, account_title: accountTitle } satisfies Schemas['AcceptedInvitation'] };
  };
  const rejectInvitation: Handler<'rejectInvitation'> = async ({ caller, body }) => {
    await invitations.reject(caller, body.invitation_id);
    return { status: 204 };
  };
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

function toInvitationResponse({ creation_time, expires_at, bound, ...rest }: InvitationView) {
  return {
    ...rest,
    creation_time: formatTime(creation_time),
    expires_at: formatTime(expires_at),
    bind_to_email: bound,
  };
}
