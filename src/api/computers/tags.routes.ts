import type { Router } from 'express';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function tagsRoutes({ operation, services }: RouteDeps): Router {
  const listTags: Handler<'listTags'> = async (context) => {
    const { count, tags } = await services.tags.list(context.caller, pageOf(context));
    return envelope(context, { count, results: tags }, String);
  };
  return createRouter().get('/tags', operation('listTags', listTags));
}
