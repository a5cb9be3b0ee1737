import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';

export function tagsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'tags'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const listTags: Handler<'listTags'> = async (context) => {
    const { count, tags } = await deps.services.tags.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: tags }) };
  };
  return createRouter().get('/tags', operation('listTags', listTags));
}
