import type { Handlers, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function tagsHandlers(services: Services) {
  return {
    listTags: async (context) => {
      const { count, tags } = await services.tags.list(context.caller, pageOf(context));
      return envelope(context, { count, results: tags }, String);
    },
  } satisfies Handlers;
}
