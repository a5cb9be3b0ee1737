import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { SavedSearchView } from '../../services/setup/views.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';

export function savedSearchesRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'savedSearches'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { savedSearches } = deps.services;
  const listSavedSearches: Handler<'listSavedSearches'> = async (context) => {
    const { count, results } = await savedSearches.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toSavedSearchResponse) }) };
  };
  const createSavedSearch: Handler<'createSavedSearch'> = async ({ caller, body }) => {
    const { name, title, search } = body;
    const content = { name: name ?? undefined, title: title ?? undefined, search };
    return { status: 201, body: toSavedSearchResponse(await savedSearches.create(caller, content)) };
  };
  const changeSavedSearch: Handler<'changeSavedSearch'> = async (context) => {
    const { title, search } = context.body;
    const change = { title: title ?? undefined, search: search ?? undefined };
    return {
      body: toSavedSearchResponse(await savedSearches.change(context.caller, context.params.saved_search_name, change)),
    };
  };
  const deleteSavedSearch: Handler<'deleteSavedSearch'> = async (context) => {
    await savedSearches.remove(context.caller, context.params.saved_search_name);
    return { status: 204 };
  };
  return createRouter()
    .get('/saved-searches', operation('listSavedSearches', listSavedSearches))
    .post('/saved-searches', operation('createSavedSearch', createSavedSearch))
    .patch('/saved-searches/:saved_search_name', operation('changeSavedSearch', changeSavedSearch))
    .delete('/saved-searches/:saved_search_name', operation('deleteSavedSearch', deleteSavedSearch));
}

function toSavedSearchResponse({ name, title, search }: SavedSearchView) {
  return { name, title, search };
}
