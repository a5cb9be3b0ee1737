import { type Client, ScheduleClient, type ScheduleHandle } from '@temporalio/client';
import { encodingKeys, METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';

/** A handle that reads nothing a missing key may have encrypted. @see docs/architecture.md#keys-of-schedules */
export function unreadSchedule(client: Client, scheduleId: string): ScheduleHandle {
  const { connection, options } = client;
  const { namespace, identity, loadedDataConverter } = options;
  const dataConverter = { payloadCodecs: loadedDataConverter.payloadCodecs.map(encryptOnly) };
  return new ScheduleClient({ connection, namespace, identity, dataConverter }).getHandle(scheduleId);
}

const UNREAD: Payload = { metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_NULL } };

function encryptOnly(codec: PayloadCodec): PayloadCodec {
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    decode: async (payloads) => payloads.map(() => UNREAD),
  };
}
