import type { SavedSearchesService } from '../../services/computers/saved-searches.service.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function savedSearchesHandlers({ savedSearches }: Services) {
  return {
    listSavedSearches: async (context) =>
      envelope(context, await savedSearches.list(context.caller, pageOf(context)), toSavedSearchResponse),
    createSavedSearch: async ({ caller, body }) => {
      const { name, title, search } = body;
      const content = { name: name ?? undefined, title: title ?? undefined, search };
      return toSavedSearchResponse(await savedSearches.create(caller, content));
    },
    changeSavedSearch: async ({ caller, params, body }) => {
      const change = { title: body.title ?? undefined, search: body.search ?? undefined };
      return toSavedSearchResponse(await savedSearches.change(caller, params.saved_search_name, change));
    },
    deleteSavedSearch: ({ caller, params }) => savedSearches.remove(caller, params.saved_search_name),
  } satisfies Handlers;
}

type SavedSearch = Awaited<ReturnType<SavedSearchesService['create']>>;

function toSavedSearchResponse({ name, title, search }: SavedSearch): Schemas['SavedSearch'] {
  return { name, title, search };
}
