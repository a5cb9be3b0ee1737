import { DomainError } from '../../domain/common/errors.ts';
import type { ActivityChoice } from '../../services/activities/activity-choice.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';
import { toDetailedActivityResponse, toParentResponse } from './activity-responses.ts';
import { readActingQuery } from './request-fields.ts';

type Schemas = components['schemas'];

function queryOf({ query }: RequestContext): string {
  return (query['query'] as string | undefined) ?? '';
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

export function activitiesRoutes(deps: {
  services: Pick<Services, 'activities' | 'activityRepeats'>;
  publicUrl: string;
}): Handlers {
  const { activities, activityRepeats } = deps.services;
  return {
    async listActivities(context) {
      const { count, results } = await activities.list(context.caller, queryOf(context), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toDetailedActivityResponse) }) };
    },
    async listComputerActivities(context) {
      const computers = [...new Set(context.query['computer_ids'] as number[])];
      const { count, results } = await activities.listOfComputers(context.caller, computers, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toDetailedActivityResponse) }) };
    },
    async listParentActivities(context) {
      const { count, results } = await activities.listParents(context.caller, queryOf(context), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toParentResponse) }) };
    },
    async getActivity({ caller, params }) {
      return { body: toDetailedActivityResponse(await activities.read(caller, params['activity_id'] as number)) };
    },
    async cancelActivities({ caller, body, request }) {
      const choice = choiceOf(body as Schemas['ActivityChoice']);
      return { body: await activities.cancel(caller, choice, traceparentOf(request)) };
    },
    async approveActivities({ caller, body }) {
      return { body: await activities.approve(caller, choiceOf(body as Schemas['ActivityChoice'])) };
    },
    async listActivityTypes() {
      return { body: [...activities.types()] };
    },
    async reapplyActivities({ caller, body, request }) {
      const { activity_ids, after } = body as Schemas['ActivityRepeat'];
      const options = { after: after ?? null, traceparent: traceparentOf(request) };
      return { body: await activityRepeats.reapply(caller, activity_ids, options) };
    },
    async revertActivities({ caller, body, request }) {
      const { activity_ids, after } = body as Schemas['ActivityRepeat'];
      const options = { after: after ?? null, traceparent: traceparentOf(request) };
      return { body: await activityRepeats.revert(caller, activity_ids, options) };
    },
  };
}
