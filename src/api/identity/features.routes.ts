import type { Router } from 'express';
import type { Feature } from '../../services/identity/features.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function featuresRoutes({ operation, services: { features } }: RouteDeps): Router {
  const listFeatures: Handler<'listFeatures'> = async (context) => {
    const { limit, offset } = pageOf(context);
    const results = features.slice(offset, offset + limit);
    return envelope(context, { count: features.length, results }, toFeatureResponse);
  };
  return createRouter().get('/features', operation('listFeatures', listFeatures));
}

function toFeatureResponse(feature: Feature): components['schemas']['Feature'] {
  return { ...feature, details: { configuration: feature.enabled } };
}
