import type { Services } from '../../services/services.ts';
import type { Handlers } from '../handler.ts';
import { envelope, pageOf } from '../pagination.ts';

export function tagsRoutes(deps: { services: Pick<Services, 'tags'>; publicUrl: string }): Handlers {
  return {
    async listTags(context) {
      const { count, tags } = await deps.services.tags.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: tags }) };
    },
  };
}
