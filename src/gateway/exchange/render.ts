import type { Sql } from '../../persistence/sql.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import { dictFromJson } from './answer.ts';
import { operationMessage, type Place } from './outgoing.ts';
import { readPayloads } from './session-reader.ts';

/**
 * The messages of an answer's places, in order.
 *
 * @param claimed - operations that could be handed out; others were withdrawn meanwhile and are left out
 */
export async function renderPlaces(
  db: Sql,
  places: readonly Place[],
  claimed: ReadonlySet<number>,
): Promise<BObject[]> {
  const resent = places.flatMap((place) => (place.kind === 'resend' ? [place.payloadId] : []));
  const payloads = resent.length > 0 ? await readPayloads(db, resent) : new Map<number, never>();
  return places.flatMap((place): BObject[] => {
    if (place.kind === 'control') return [dictFromJson(place.message)];
    if (place.kind === 'resend') return [operationMessage(place.activityId, payloads.get(place.payloadId)!)];
    const { activityId } = place.operation;
    return claimed.has(activityId) ? [operationMessage(activityId, place.operation)] : [];
  });
}
