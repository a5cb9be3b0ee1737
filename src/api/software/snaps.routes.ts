import type { SnapAction, SnapEntry } from '../../domain/activities/snap-actions.ts';
import type { Services } from '../../services/setup/services.ts';
import type { InstalledSnapView } from '../../services/setup/views.ts';
import type { SnapCommand } from '../../services/software/snaps.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { type DeliveryFields, readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';

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

interface SnapInBody {
  name: string;
  channel?: string | null;
  revision?: string | number | null;
  classic?: boolean | null;
  time?: string | null;
}

interface SnapBody extends DeliveryFields {
  action: SnapAction;
  computer_ids: number[];
  snaps: SnapInBody[];
}

/** @throws {DomainError} InvalidParameterCombination */
function readSnapCommand(body: unknown, traceparent: string | null): SnapCommand {
  const { action, computer_ids, snaps, ...delivery } = body as SnapBody;
  return {
    action,
    computerIds: computer_ids,
    snaps: snaps.map(readSnap),
    ...readDeliveryFields(delivery),
    traceparent,
  };
}

function readSnap({ name, channel, revision, classic, time }: SnapInBody): SnapEntry {
  return {
    name,
    ...(channel != null && { channel }),
    ...(revision != null && { revision: String(revision) }),
    ...(classic != null && { classic }),
    ...(time != null && { time }),
  };
}

function toInstalledSnapResponse(snap: InstalledSnapView) {
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
