import type { SnapAction, SnapEntry } from '../../domain/activities/snap-actions.ts';
import type { InstalledSnapView } from '../../services/setup/views.ts';
import type { SnapCommand } from '../../services/software/snaps.service.ts';
import { type DeliveryFields, readDeliveryFields } from '../activities/delivery.wire.ts';

interface SnapInBody {
  name: string;
  channel?: string | null;
  revision?: string | number | null;
  classic?: boolean | null;
  time?: string | null;
}

/** Body of POST /snaps. */
interface SnapBody extends DeliveryFields {
  action: SnapAction;
  computer_ids: number[];
  snaps: SnapInBody[];
}

/** @throws {DomainError} InvalidParameterCombination */
export function readSnapCommand(body: unknown, traceparent: string | null): SnapCommand {
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

export function toInstalledSnapResponse(snap: InstalledSnapView) {
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
