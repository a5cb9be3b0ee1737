import { FAST_SECONDS, type IntervalsState } from '../../domain/agents/intervals.ts';
import { BFloat, type BObject, type BValue, emptyDict, encode } from '../../protocol/bpickle.ts';

/** Our API version; agents use the lower of theirs and this. */
const SERVER_API = Buffer.from('3.3');

interface ResponseCounters {
  nextExpected: number;
  token: string;
  clientTypesDigest: Buffer | null;
}

/** Token and digests are byte strings: agents fail on text. @see docs/agent-protocol.md#field-types-the-agent-checks */
export function encodeResponse(
  serverUuid: string,
  messages: readonly BObject[],
  counters: ResponseCounters | null,
): Buffer {
  const response: BObject = {
    'server-uuid': Buffer.from(serverUuid),
    'server-api': SERVER_API,
    messages: messages as BObject[],
  };
  if (counters) {
    response['next-expected-sequence'] = counters.nextExpected;
    response['next-exchange-token'] = Buffer.from(counters.token);
    if (counters.clientTypesDigest) response['client-accepted-types-hash'] = counters.clientTypesDigest;
  }
  return encode(response);
}

/** Names must be text, or the agent never exchanges again. */
export function acceptedTypesMessage(types: readonly string[]): BObject {
  return { type: 'accepted-types', types: [...types] };
}

/** Null before the first. Integers, and none below 10, or the agent never exchanges again. */
export function setIntervalsMessage({ intervals, pollsFast }: IntervalsState): BObject | null {
  if (intervals === null) return null;
  const { ping, urgent_exchange: urgent, exchange } = intervals;
  const quickest = (seconds: number) => (pollsFast ? FAST_SECONDS : seconds);
  return { type: 'set-intervals', ping: quickest(ping), 'urgent-exchange': quickest(urgent), exchange };
}

/** @param cloneOf - title of the original, for a clone */
export function unknownIdMessage(cloneOf?: string): BObject {
  return cloneOf === undefined ? { type: 'unknown-id' } : { type: 'unknown-id', 'clone-of': cloneOf };
}

/** The secure id must be a byte string, or downloads of attachments fail. */
export function setIdMessage(secureId: string, insecureId: number): BObject {
  return { type: 'set-id', id: Buffer.from(secureId), 'insecure-id': insecureId };
}

export function registrationMessage(info: 'unknown-account' | 'max-pending-computers'): BObject {
  return { type: 'registration', info };
}

function fromJson(json: unknown): BValue {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : new BFloat(json);
  if (typeof json === 'string' || typeof json === 'boolean' || json === null) return json;
  if (Array.isArray(json)) return json.map(fromJson);
  return dictFromJson(json as Record<string, unknown>);
}

/** As {@link fromJson}, for an object. */
export function dictFromJson(json: Record<string, unknown>): BObject {
  const dict = emptyDict();
  for (const [key, value] of Object.entries(json)) if (value !== undefined) dict[key] = fromJson(value);
  return dict;
}
