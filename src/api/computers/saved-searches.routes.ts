import type { Services } from '../../services/setup/services.ts';
import type { SavedSearchView } from '../../services/setup/views.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function savedSearchesRoutes(deps: { services: Pick<Services, 'savedSearches'>; publicUrl: string }): Handlers {
  const { savedSearches } = deps.services;
  return {
    async listSavedSearches(context) {
      const { count, results } = await savedSearches.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toSavedSearchResponse) }) };
    },
    async createSavedSearch({ caller, body }) {
      const { name, title, search } = body as Schemas['SavedSearchRequest'];
      const content = { name: name ?? undefined, title: title ?? undefined, search };
      return { status: 201, body: toSavedSearchResponse(await savedSearches.create(caller, content)) };
    },
    async changeSavedSearch(context) {
      const { title, search } = context.body as Schemas['SavedSearchChange'];
      const change = { title: title ?? undefined, search: search ?? undefined };
      return { body: toSavedSearchResponse(await savedSearches.change(context.caller, nameOf(context), change)) };
    },
    async deleteSavedSearch(context) {
      await savedSearches.remove(context.caller, nameOf(context));
      return { status: 204 };
    },
  };
}

function nameOf({ params }: RequestContext): string {
  return params['saved_search_name'] as string;
}

function toSavedSearchResponse({ name, title, search }: SavedSearchView) {
  return { name, title, search };
}
