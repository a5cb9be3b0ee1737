import type { Services } from '../../services/services.ts';
import type { Handlers } from '../handler.ts';
import { envelope, pageOf } from '../pagination.ts';
import { traceparentOf } from '../trace-context.ts';
import { wireActivity } from '../wire/activities.wire.ts';
import { readSnapCommand, wireInstalledSnap } from '../wire/snaps.wire.ts';

export function snapsRoutes(deps: { services: Pick<Services, 'snaps'>; publicUrl: string }): Handlers {
  return {
    async listInstalledSnaps(context) {
      const computer = context.params['computer_id'] as number;
      const { count, rows } = await deps.services.snaps.installed(context.caller, computer, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: rows.map(wireInstalledSnap) }) };
    },
    async actOnSnaps({ caller, body, request }) {
      const command = readSnapCommand(body, traceparentOf(request));
      return { body: wireActivity(await deps.services.snaps.act(caller, command)) };
    },
  };
}
