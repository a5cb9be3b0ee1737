import type { Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { ActivityChoice } from '../../services/activities/activity-choice.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';
import { toDetailedActivityResponse, toParentResponse } from './activity-responses.ts';
import { readActingQuery } from './request-fields.ts';

type Schemas = components['schemas'];

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
  operation: ServeOperation;
  services: Pick<Services, 'activities' | 'activityRepeats'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { activities, activityRepeats } = deps.services;
  const listActivities: Handler<'listActivities'> = async (context) => {
    const { count, results } = await activities.list(context.caller, context.query.query ?? '', pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toDetailedActivityResponse) }) };
  };
  const listComputerActivities: Handler<'listComputerActivities'> = async (context) => {
    const computers = [...new Set(context.query.computer_ids)];
    const { count, results } = await activities.listOfComputers(context.caller, computers, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toDetailedActivityResponse) }) };
  };
  const listParentActivities: Handler<'listParentActivities'> = async (context) => {
    const { count, results } = await activities.listParents(context.caller, context.query.query ?? '', pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toParentResponse) }) };
  };
  const getActivity: Handler<'getActivity'> = async ({ caller, params }) => {
    return { body: toDetailedActivityResponse(await activities.read(caller, params.activity_id)) };
  };
  const cancelActivities: Handler<'cancelActivities'> = async ({ caller, body, traceparent }) => {
    const choice = choiceOf(body);
    return { body: await activities.cancel(caller, choice, traceparent) };
  };
  const approveActivities: Handler<'approveActivities'> = async ({ caller, body }) => {
    return { body: await activities.approve(caller, choiceOf(body)) };
  };
  const listActivityTypes: Handler<'listActivityTypes'> = async () => {
    return { body: [...activities.types()] };
  };
  const reapplyActivities: Handler<'reapplyActivities'> = async ({ caller, body, traceparent }) => {
    const { activity_ids, after } = body;
    const options = { after: after ?? null, traceparent: traceparent };
    return { body: await activityRepeats.reapply(caller, activity_ids, options) };
  };
  const revertActivities: Handler<'revertActivities'> = async ({ caller, body, traceparent }) => {
    const { activity_ids, after } = body;
    const options = { after: after ?? null, traceparent: traceparent };
    return { body: await activityRepeats.revert(caller, activity_ids, options) };
  };
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
