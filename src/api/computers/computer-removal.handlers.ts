import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers, RequestContext, Services } from '../http/handler.ts';

export function computerRemovalHandlers({ computerRemoval }: Services) {
  return {
    archiveComputer: async (context) =>
      toActivityResponse(await computerRemoval.archive(context.caller, namedComputer(context))),
    sanitizeComputer: async (context) => {
      const computer = { ...namedComputer(context), after: context.body.after ?? null };
      return toActivityResponse(await computerRemoval.sanitize(context.caller, computer));
    },
    deleteComputers: ({ caller, body, traceparent }) => computerRemoval.remove(caller, body.computer_ids, traceparent),
  } satisfies Handlers;
}

function namedComputer({ params, body, traceparent }: RequestContext<'archiveComputer' | 'sanitizeComputer'>) {
  return { id: params.computer_id, title: body.computer_title, traceparent };
}
