import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function computerRemovalRoutes(deps: { services: Pick<Services, 'computerRemoval'> }): Handlers {
  const { computerRemoval } = deps.services;
  return {
    async archiveComputer(context) {
      return { body: toActivityResponse(await computerRemoval.archive(context.caller, namedComputer(context))) };
    },
    async sanitizeComputer(context) {
      const { after } = context.body as Schemas['SanitizeRequest'];
      const computer = { ...namedComputer(context), after: after ?? null };
      return { body: toActivityResponse(await computerRemoval.sanitize(context.caller, computer)) };
    },
    async deleteComputers({ caller, body, request }) {
      const { computer_ids } = body as Schemas['ComputerRemoval'];
      await computerRemoval.remove(caller, computer_ids, traceparentOf(request));
      return { status: 204 };
    },
  };
}

function namedComputer({ params, body, request }: RequestContext) {
  const { computer_title: title } = body as Schemas['ComputerTitle'];
  return { id: params['computer_id'] as number, title, traceparent: traceparentOf(request) };
}
