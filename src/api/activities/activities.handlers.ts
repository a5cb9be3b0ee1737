import { DomainError } from '../../domain/common/errors.ts';
import type { ActivityChoice } from '../../services/activities/activity-choice.ts';
import type { ParentActivity } from '../../services/activities/displayed-activities.ts';
import { eventStream, HEARTBEAT } from '../http/event-stream.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { conditional } from '../http/request/conditional.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { toDetailedActivityResponse, toParentResponse } from './activity-responses.ts';
import { readActingQuery } from './request-fields.ts';

export function activitiesHandlers({ activities, activityProgress, activityRepeats }: Services) {
  return {
    listActivities: async (context) =>
      envelope(
        context,
        await activities.list(context.caller, context.query.query ?? '', pageOf(context)),
        toDetailedActivityResponse,
      ),
    listComputerActivities: async (context) => {
      const { computer_ids, operations_only: operationsOnly, open = null } = context.query;
      const which = { computers: [...new Set(computer_ids)], operationsOnly: operationsOnly === true, open };
      const page = await activities.listOfComputers(context.caller, which, pageOf(context));
      return envelope(context, page, toDetailedActivityResponse);
    },
    listParentActivities: async (context) =>
      envelope(
        context,
        await activities.listParents(context.caller, context.query.query ?? '', pageOf(context)),
        toParentResponse,
      ),
    getActivity: (context) => {
      const { caller, params } = context;
      const read = (known: readonly string[] | null) => activities.read(caller, params.activity_id, known);
      return conditional(context, read, toDetailedActivityResponse);
    },
    streamActivity: async ({ caller, params, response }) =>
      eventStream(response, format(await activityProgress.follow(caller, params.activity_id))),
    cancelActivities: async ({ caller, body, traceparent }) => activities.cancel(caller, choiceOf(body), traceparent),
    approveActivities: async ({ caller, body }) => await activities.approve(caller, choiceOf(body)),
    listActivityTypes: async () => [...activities.types()],
    reapplyActivities: ({ caller, body, traceparent }) =>
      activityRepeats.reapply(caller, body.activity_ids, { after: body.after ?? null, traceparent }),
    revertActivities: ({ caller, body, traceparent }) =>
      activityRepeats.revert(caller, body.activity_ids, { after: body.after ?? null, traceparent }),
  } satisfies Handlers;
}

async function* format(items: AsyncIterable<ParentActivity | null>): AsyncGenerator<string> {
  for await (const item of items) {
    yield item === null ? HEARTBEAT : `event: progress\ndata: ${JSON.stringify(toParentResponse(item))}\n\n`;
  }
}

function choiceOf({ activity_ids: ids, query, searches }: Schemas['ActivityChoice']): ActivityChoice {
  if (ids !== undefined && query === undefined) {
    if (!searches) return { ids };
    throw new DomainError('InvalidParameterCombination', 'searches needs a query that names them');
  }
  if (query !== undefined && ids === undefined)
    return { query: readActingQuery({ query, searches: searches ?? null }) };
  throw new DomainError('InvalidParameterCombination', 'Exactly one of activity_ids and query is needed');
}
