import type { Services } from '../../services/setup/services.ts';
import type { PendingComputerView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function pendingComputersRoutes(deps: {
  services: Pick<Services, 'pendingComputers'>;
  publicUrl: string;
}): Handlers {
  const { pendingComputers } = deps.services;
  return {
    async listPendingComputers(context) {
      const { count, rows } = await pendingComputers.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toPendingComputerResponse) }) };
    },
    async acceptPendingComputers({ caller, body, request }) {
      const { computer_ids, access_group } = body as Schemas['PendingAcceptance'];
      const to = { accessGroup: access_group ?? undefined, traceparent: traceparentOf(request) };
      return { body: await pendingComputers.accept(caller, computer_ids, to) };
    },
    async rejectPendingComputers({ caller, body }) {
      const { computer_ids } = body as Schemas['PendingRejection'];
      return { body: await pendingComputers.reject(caller, computer_ids) };
    },
  };
}

function toPendingComputerResponse(computer: PendingComputerView) {
  return { ...computer, creation_time: formatTime(computer.creation_time) };
}
