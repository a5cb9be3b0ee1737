import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function tagsRoutes(deps: { services: Pick<Services, 'tags'>; publicUrl: string }): Handlers {
  return {
    async listTags(context) {
      const { count, tags } = await deps.services.tags.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: tags }) };
    },
  };
}
