import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

export function featuresRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'features'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const features = deps.services.features.map(
    (feature) =>
      ({ ...feature, details: { configuration: feature.enabled } }) satisfies components['schemas']['Feature'],
  );
  const listFeatures: Handler<'listFeatures'> = async (context) => {
    const { limit, offset } = pageOf(context);
    const results = features.slice(offset, offset + limit);
    return { body: envelope(context, deps.publicUrl, { count: features.length, results }) };
  };
  return createRouter().get('/features', operation('listFeatures', listFeatures));
}
