import type { Services } from '../../services/setup/services.ts';
import type { InvitationView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function invitationsRoutes(deps: { services: Pick<Services, 'invitations'>; publicUrl: string }): Handlers {
  const { invitations } = deps.services;
  return {
    async listInvitations(context) {
      const { count, results } = await invitations.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toInvitationResponse) }) };
    },
    async createInvitation({ caller, body }) {
      const { name, email, roles, bind_to_email: bound = false } = body as Schemas['InvitationRequest'];
      const wanted = { name, email, roles: roles ?? undefined, bound };
      const { id, secureId } = await invitations.create(caller, wanted);
      return { status: 201, body: { id, secure_id: secureId } satisfies Schemas['NewInvitation'] };
    },
    async getInvitation({ caller, params }) {
      return { body: toInvitationResponse(await invitations.get(caller, params['invitation_id'] as number)) };
    },
    async resendInvitation({ caller, params }) {
      return { body: toInvitationResponse(await invitations.resend(caller, params['invitation_id'] as number)) };
    },
    async deleteInvitation({ caller, params }) {
      await invitations.remove(caller, params['invitation_id'] as number);
      return { status: 204 };
    },
    async getInvitationSummary({ params, origin }) {
      const { accountTitle, secureId } = await invitations.summary(origin.address, params['secure_id'] as string);
      return { body: { account_title: accountTitle, secure_id: secureId } satisfies Schemas['InvitationSummary'] };
    },
    async acceptInvitation({ caller, body }) {
      const { invitation_id } = body as Schemas['InvitationUse'];
      const { accountId, accountTitle } = await invitations.accept(caller, invitation_id);
      return { body: { account_id: accountId, account_title: accountTitle } satisfies Schemas['AcceptedInvitation'] };
    },
    async rejectInvitation({ caller, body }) {
      await invitations.reject(caller, (body as Schemas['InvitationUse']).invitation_id);
      return { status: 204 };
    },
  };
}

function toInvitationResponse({ creation_time, expires_at, bound, ...rest }: InvitationView) {
  return {
    ...rest,
    creation_time: formatTime(creation_time),
    expires_at: formatTime(expires_at),
    bind_to_email: bound,
  };
}
