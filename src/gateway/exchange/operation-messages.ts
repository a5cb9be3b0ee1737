import type { DueOperation, Recipient } from '../../domain/agents/session.ts';
import { computerEnvironment, SCRIPT_MESSAGE } from '../../domain/scripts/environment.ts';
import { executableCode, type ScriptBody } from '../../domain/scripts/script.ts';
import { findEnded, readPayloads } from '../../persistence/agents/sessions.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { ResponseSlot } from './plan-response.ts';
import { dictFromJson } from './response.ts';

/** Takes the position of an ended operation. Unknown to every agent, so it is counted and ignored. */
const PLACEHOLDER_TYPE = 'no-operation';

/** Call it once saved; operations not in `sent` were canceled. @see docs/agent-protocol.md#outgoing-messages */
export async function buildMessages(
  db: Sql,
  recipient: Recipient,
  slots: readonly ResponseSlot[],
  sent: ReadonlySet<number>,
): Promise<BObject[]> {
  const resends = slots.filter((slot) => slot.kind === 'resend');
  const resent = resends.length > 0 ? await buildResends(db, recipient, resends) : new Map<number, BObject>();
  return slots.flatMap((slot): BObject[] => {
    if (slot.kind === 'control') return [dictFromJson(slot.message)];
    if (slot.kind === 'resend') return [resent.get(slot.activityId)!];
    const { activityId } = slot.operation;
    return sent.has(activityId) ? [operationMessage(activityId, slot.operation, recipient)] : [];
  });
}

async function buildResends(
  db: Sql,
  recipient: Recipient,
  slots: ReadonlyArray<Extract<ResponseSlot, { kind: 'resend' }>>,
): Promise<Map<number, BObject>> {
  const operations = slots.map(({ activityId }) => activityId);
  const payloadIds = slots.map(({ payloadId }) => payloadId);
  const [payloads, ended] = await Promise.all([readPayloads(db, payloadIds), findEnded(db, operations)]);
  const messageOf = (activityId: number, payloadId: number): BObject =>
    ended.has(activityId)
      ? { type: PLACEHOLDER_TYPE }
      : operationMessage(activityId, payloads.get(payloadId)!, recipient);
  return new Map(slots.map(({ activityId, payloadId }) => [activityId, messageOf(activityId, payloadId)]));
}

/** The message of an operation; scripts get the environment variables of their computer. */
export function operationMessage(
  activityId: number,
  { messageType, fields }: Pick<DueOperation, 'messageType' | 'fields'>,
  recipient: Recipient,
): BObject {
  const message = dictFromJson(fields);
  message['type'] = messageType;
  message['operation-id'] = activityId;
  if (messageType === SCRIPT_MESSAGE) {
    const env = fields['env'] as Record<string, unknown> | undefined;
    message['code'] = executableCode(fields as unknown as ScriptBody);
    message['env'] = dictFromJson({ ...env, ...computerEnvironment(activityId, recipient) });
  }
  return message;
}
