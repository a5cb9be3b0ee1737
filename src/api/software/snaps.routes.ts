import type { Router } from 'express';
import type { SnapEntry } from '../../domain/activities/snap-actions.ts';
import type { Services } from '../../services/setup/services.ts';
import type { InstalledSnapView } from '../../services/setup/views.ts';
import type { SnapCommand } from '../../services/software/snaps.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function snapsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'snaps'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const listInstalledSnaps: Handler<'listInstalledSnaps'> = async (context) => {
    const computer = context.params.computer_id;
    const { count, rows } = await deps.services.snaps.installed(context.caller, computer, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toInstalledSnapResponse) }) };
  };
  const actOnSnaps: Handler<'actOnSnaps'> = async ({ caller, body, traceparent }) => {
    const command = readSnapCommand(body, traceparent);
    return { body: toActivityResponse(await deps.services.snaps.act(caller, command)) };
  };
  return createRouter()
    .get('/computers/:computer_id/snaps/installed', operation('listInstalledSnaps', listInstalledSnaps))
    .post('/snaps', operation('actOnSnaps', actOnSnaps));
}

/** @throws {DomainError} InvalidParameterCombination */
function readSnapCommand(
  { action, computer_ids, snaps, ...delivery }: Schemas['SnapRequest'],
  traceparent: string | null,
): SnapCommand {
  return {
    action,
    computerIds: computer_ids,
    snaps: snaps.map(readSnap),
    ...readDeliveryFields(delivery),
    traceparent,
  };
}

function readSnap({ name, channel, revision, classic, time }: Schemas['SnapEntry']): SnapEntry {
  return {
    name,
    ...(channel != null && { channel }),
    ...(revision != null && { revision: String(revision) }),
    ...(classic != null && { classic }),
    ...(time != null && { time }),
  };
}

function toInstalledSnapResponse(snap: InstalledSnapView): Schemas['InstalledSnap'] {
  return {
    version: snap.version,
    revision: snap.revision,
    tracking_channel: snap.tracking_channel,
    held_until: snap.held_until,
    confinement: snap.confinement,
    snap: {
      id: snap.snap_id,
      name: snap.name,
      summary: snap.summary,
      publisher: { username: snap.publisher_username, validation: snap.publisher_validation },
    },
  };
}
