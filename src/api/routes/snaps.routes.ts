import type { Services } from '../../services/services.ts';
import type { Handlers } from '../handler.ts';
import { traceparentOf } from '../trace-context.ts';
import { wireActivity } from '../wire/activities.wire.ts';
import { readSnapCommand } from '../wire/snaps.wire.ts';

export function snapsRoutes(deps: { services: Pick<Services, 'snaps'> }): Handlers {
  return {
    async actOnSnaps({ caller, body, request }) {
      const command = readSnapCommand(body, traceparentOf(request));
      return { body: wireActivity(await deps.services.snaps.act(caller, command)) };
    },
  };
}
