import type { SnapEntry } from '../../domain/activities/snap-actions.ts';
import type { SnapCommand, SnapsService } from '../../services/software/snaps.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function snapsHandlers({ snaps }: Services) {
  return {
    listInstalledSnaps: async (context) => {
      const computer = context.params.computer_id;
      const { count, rows } = await snaps.installed(context.caller, computer, pageOf(context));
      return envelope(context, { count, results: rows }, toInstalledSnapResponse);
    },
    actOnSnaps: async ({ caller, body, traceparent }) =>
      toActivityResponse(await snaps.act(caller, readSnapCommand(body, traceparent))),
  } satisfies Handlers;
}

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

type InstalledSnap = Awaited<ReturnType<SnapsService['installed']>>['rows'][number];

function toInstalledSnapResponse(snap: InstalledSnap): Schemas['InstalledSnap'] {
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
