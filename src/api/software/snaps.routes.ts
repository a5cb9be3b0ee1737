import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import { readSnapCommand, toInstalledSnapResponse } from './snaps.wire.ts';

export function snapsRoutes(deps: { services: Pick<Services, 'snaps'>; publicUrl: string }): Handlers {
  return {
    async listInstalledSnaps(context) {
      const computer = context.params['computer_id'] as number;
      const { count, rows } = await deps.services.snaps.installed(context.caller, computer, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toInstalledSnapResponse) }) };
    },
    async actOnSnaps({ caller, body, request }) {
      const command = readSnapCommand(body, traceparentOf(request));
      return { body: toActivityResponse(await deps.services.snaps.act(caller, command)) };
    },
  };
}
