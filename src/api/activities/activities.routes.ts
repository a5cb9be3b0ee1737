import type { Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { ActivityChoice } from '../../services/activities/activity-choice.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';
import { toDetailedActivityResponse, toParentResponse } from './activity-responses.ts';
import { readActingQuery } from './request-fields.ts';

type Schemas = components['schemas'];

export function activitiesRoutes({ operation, services: { activities, activityRepeats } }: RouteDeps): Router {
  const listActivities: Handler<'listActivities'> = async (context) =>
    envelope(
      context,
      await activities.list(context.caller, context.query.query ?? '', pageOf(context)),
      toDetailedActivityResponse,
    );
  const listComputerActivities: Handler<'listComputerActivities'> = async (context) => {
    const computers = [...new Set(context.query.computer_ids)];
    const page = await activities.listOfComputers(context.caller, computers, pageOf(context));
    return envelope(context, page, toDetailedActivityResponse);
  };
  const listParentActivities: Handler<'listParentActivities'> = async (context) =>
    envelope(
      context,
      await activities.listParents(context.caller, context.query.query ?? '', pageOf(context)),
      toParentResponse,
    );
  const getActivity: Handler<'getActivity'> = async ({ caller, params }) =>
    toDetailedActivityResponse(await activities.read(caller, params.activity_id));
  const cancelActivities: Handler<'cancelActivities'> = async ({ caller, body, traceparent }) =>
    activities.cancel(caller, choiceOf(body), traceparent);
  const approveActivities: Handler<'approveActivities'> = async ({ caller, body }) =>
    await activities.approve(caller, choiceOf(body));
  const listActivityTypes: Handler<'listActivityTypes'> = async () => [...activities.types()];
  const reapplyActivities: Handler<'reapplyActivities'> = ({ caller, body, traceparent }) =>
    activityRepeats.reapply(caller, body.activity_ids, { after: body.after ?? null, traceparent });
  const revertActivities: Handler<'revertActivities'> = ({ caller, body, traceparent }) =>
    activityRepeats.revert(caller, body.activity_ids, { after: body.after ?? null, traceparent });
  return createRouter()
    .get('/activities', operation('listActivities', listActivities))
    .get('/computers/activities', operation('listComputerActivities', listComputerActivities))
    .get('/activities/parents', operation('listParentActivities', listParentActivities))
    .get('/activities/:activity_id', operation('getActivity', getActivity))
    .post('/activities/cancel', operation('cancelActivities', cancelActivities))
    .post('/activities/approve', operation('approveActivities', approveActivities))
    .get('/activity-types', operation('listActivityTypes', listActivityTypes))
    .post('/activities/reapply', operation('reapplyActivities', reapplyActivities))
    .post('/activities/revert', operation('revertActivities', revertActivities));
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
