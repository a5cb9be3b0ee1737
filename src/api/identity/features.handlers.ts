import type { Handlers, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function featuresHandlers({ features }: Services) {
  return {
    listFeatures: async (context) => {
      const { limit, offset } = pageOf(context);
      const results = features.slice(offset, offset + limit);
      return envelope(context, { count: features.length, results }, (feature) => ({
        ...feature,
        details: { configuration: feature.enabled },
      }));
    },
  } satisfies Handlers;
}
