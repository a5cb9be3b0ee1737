import type { Sql } from '../../persistence/database/sql.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import { dictFromJson } from './answer.ts';
import { operationMessage, type Place } from './outgoing.ts';
import type { Addressee } from './session.ts';
import { findEnded, readPayloads } from './session-reader.ts';

/**
 * The messages of an answer's places, in order.
 *
 * @param computer - whose answer it is
 * @param claimed - operations that could be handed out; others were withdrawn meanwhile and are left out
 * @remarks An operation that ended, or was answered, before it was acknowledged is not run again: at its place, which the
 * agent counts, stands a message that it does not know and therefore ignores. To be called once what the exchange brought
 * is stored.
 * @see docs/agent-protocol.md#sequence-numbers-and-delivery
 */
export async function renderPlaces(
  db: Sql,
  computer: Addressee,
  places: readonly Place[],
  claimed: ReadonlySet<number>,
): Promise<BObject[]> {
  const resent = places.filter((place) => place.kind === 'resend');
  const again = resent.length > 0 ? await renderAgain(db, computer, resent) : new Map<number, BObject>();
  return places.flatMap((place): BObject[] => {
    if (place.kind === 'control') return [dictFromJson(place.message)];
    if (place.kind === 'resend') return [again.get(place.activityId)!];
    const { activityId } = place.operation;
    return claimed.has(activityId) ? [operationMessage(activityId, place.operation, computer)] : [];
  });
}

/** Unknown to every agent, and without an operation's id: it is counted and nothing else. */
const NO_OPERATION = 'no-operation';

/** By operation, what is sent once more. */
async function renderAgain(
  db: Sql,
  computer: Addressee,
  places: ReadonlyArray<Extract<Place, { kind: 'resend' }>>,
): Promise<Map<number, BObject>> {
  const operations = places.map(({ activityId }) => activityId);
  const payloadIds = places.map(({ payloadId }) => payloadId);
  const [payloads, ended] = await Promise.all([readPayloads(db, payloadIds), findEnded(db, operations)]);
  const messageOf = (activityId: number, payloadId: number): BObject =>
    ended.has(activityId) ? { type: NO_OPERATION } : operationMessage(activityId, payloads.get(payloadId)!, computer);
  return new Map(places.map(({ activityId, payloadId }) => [activityId, messageOf(activityId, payloadId)]));
}
