import { mayChangeSearch, type SavedSearchesService } from '../../services/computers/saved-searches.service.ts';
import type { Caller } from '../../services/common/ports.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function savedSearchesHandlers({ savedSearches }: Services) {
  return {
    listSavedSearches: async (context) => {
      const { caller } = context;
      const page = await savedSearches.list(caller, pageOf(context));
      return envelope(context, page, (search) => toSavedSearchResponse(caller, search));
    },
    createSavedSearch: async ({ caller, body }) => {
      const { name, title, search } = body;
      const content = { name: name ?? undefined, title: title ?? undefined, search };
      return toSavedSearchResponse(caller, await savedSearches.create(caller, content));
    },
    changeSavedSearch: async ({ caller, params, body }) => {
      const change = { title: body.title ?? undefined, search: body.search ?? undefined };
      return toSavedSearchResponse(caller, await savedSearches.change(caller, params.saved_search_name, change));
    },
    deleteSavedSearch: ({ caller, params }) => savedSearches.remove(caller, params.saved_search_name),
  } satisfies Handlers;
}

type SavedSearch = Awaited<ReturnType<SavedSearchesService['create']>>;

function toSavedSearchResponse(caller: Caller, saved: SavedSearch): Schemas['SavedSearch'] {
  const { name, title, search } = saved;
  return { name, title, search, changeable: mayChangeSearch(caller, saved) };
}
