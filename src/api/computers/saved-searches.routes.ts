import type { Router } from 'express';
import type { SavedSearchesService } from '../../services/computers/saved-searches.service.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function savedSearchesRoutes({ operation, services: { savedSearches } }: RouteDeps): Router {
  const listSavedSearches: Handler<'listSavedSearches'> = async (context) =>
    envelope(context, await savedSearches.list(context.caller, pageOf(context)), toSavedSearchResponse);
  const createSavedSearch: Handler<'createSavedSearch'> = async ({ caller, body }) => {
    const { name, title, search } = body;
    const content = { name: name ?? undefined, title: title ?? undefined, search };
    return toSavedSearchResponse(await savedSearches.create(caller, content));
  };
  const changeSavedSearch: Handler<'changeSavedSearch'> = async ({ caller, params, body }) => {
    const change = { title: body.title ?? undefined, search: body.search ?? undefined };
    return toSavedSearchResponse(await savedSearches.change(caller, params.saved_search_name, change));
  };
  const deleteSavedSearch: Handler<'deleteSavedSearch'> = ({ caller, params }) =>
    savedSearches.remove(caller, params.saved_search_name);
  return createRouter()
    .get('/saved-searches', operation('listSavedSearches', listSavedSearches))
    .post('/saved-searches', operation('createSavedSearch', createSavedSearch))
    .patch('/saved-searches/:saved_search_name', operation('changeSavedSearch', changeSavedSearch))
    .delete('/saved-searches/:saved_search_name', operation('deleteSavedSearch', deleteSavedSearch));
}

type SavedSearch = Awaited<ReturnType<SavedSearchesService['create']>>;

function toSavedSearchResponse({ name, title, search }: SavedSearch): components['schemas']['SavedSearch'] {
  return { name, title, search };
}
