import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function featuresRoutes(deps: { services: Pick<Services, 'features'>; publicUrl: string }): Handlers {
  const features = deps.services.features.map(
    (feature) =>
      ({ ...feature, details: { configuration: feature.enabled } }) satisfies components['schemas']['Feature'],
  );
  return {
    async listFeatures(context) {
      const { limit, offset } = pageOf(context);
      const results = features.slice(offset, offset + limit);
      return { body: envelope(context, deps.publicUrl, { count: features.length, results }) };
    },
  };
}
