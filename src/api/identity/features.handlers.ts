import type { Feature } from '../../services/identity/features.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function featuresHandlers({ features }: Services) {
  return {
    listFeatures: async (context) => {
      const { limit, offset } = pageOf(context);
      const results = features.slice(offset, offset + limit);
      return envelope(context, { count: features.length, results }, toFeatureResponse);
    },
  } satisfies Handlers;
}

function toFeatureResponse(feature: Feature): components['schemas']['Feature'] {
  return { ...feature, details: { configuration: feature.enabled } };
}
