import { BFloat, type BObject, type BValue, emptyDict, encode } from '../../protocol/bpickle.ts';

/** The API version of our messages; agents take the lower of theirs and this. */
const SERVER_API = Buffer.from('3.3');

/** Counters of an answer to an agent with an identity. */
export interface AnswerCounters {
  nextExpected: number;
  token: string;
  clientTypesDigest: Buffer | null;
}

/**
 * Encodes one answer to POST /message-system.
 *
 * @param counters - null for agents without an identity of this server
 * @remarks The token and both digests are byte strings: as text they make agents fail. @see docs/agent-protocol.md#field-types-the-agent-checks
 */
export function encodeAnswer(
  serverUuid: string,
  messages: readonly BObject[],
  counters: AnswerCounters | null,
): Buffer {
  const answer: BObject = {
    'server-uuid': Buffer.from(serverUuid),
    'server-api': SERVER_API,
    messages: messages as BObject[],
  };
  if (counters) {
    answer['next-expected-sequence'] = counters.nextExpected;
    answer['next-exchange-token'] = Buffer.from(counters.token);
    if (counters.clientTypesDigest) answer['client-accepted-types-hash'] = counters.clientTypesDigest;
  }
  return encode(answer);
}

/** `accepted-types`; its names must be text, or the agent never exchanges again. */
export function acceptedTypesMessage(types: readonly string[]): BObject {
  return { type: 'accepted-types', types: [...types] };
}

/** `unknown-id`; with the title of the original for one that presents a foreign token. */
export function unknownIdMessage(cloneOf?: string): BObject {
  return cloneOf === undefined ? { type: 'unknown-id' } : { type: 'unknown-id', 'clone-of': cloneOf };
}

/** `set-id`; the secure id must be a byte string, or attachment downloads fail. */
export function setIdMessage(secureId: string, insecureId: number): BObject {
  return { type: 'set-id', id: Buffer.from(secureId), 'insecure-id': insecureId };
}

/** Why a registration was refused. */
export function registrationMessage(info: 'unknown-account' | 'max-pending-computers'): BObject {
  return { type: 'registration', info };
}

/** Turns stored JSON into wire values: strings become text, whole numbers ints, objects dicts. */
export function fromJson(json: unknown): BValue {
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
