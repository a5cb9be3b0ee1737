import { LARGE_BYTES } from '../../process/body-budget.ts';
import { type BObject, BpickleError, type BValue, decode, decodePartialDict, isDict } from '../../protocol/bpickle.ts';
import { TOO_LARGE } from '../facts/read-messages.ts';
import type { Charge, KeptBody } from '../http/body.ts';
import { Gate } from '../http/gate.ts';
import { Refusal } from '../http/refusal.ts';

/** Decoded body of POST /message-system. @see docs/agent-protocol.md#exchange-payloads */
export interface ExchangePayload {
  messages: readonly BValue[];
  /** Null in payloads of the setup tool. */
  sequence: number | null;
  nextExpected: number | null;
  /** Digest of what the agent believes the server accepts. */
  acceptedTypesDigest: Buffer | null;
  /** The types the agent can handle, when it sent them. */
  clientAcceptedTypes: string[] | null;
}

const MAX_CLIENT_TYPES = 1000;
const MAX_TYPE_LENGTH = 200;

/**
 * Decodes and checks the frame of an exchange; the messages inside are checked one by one, later. Of a payload that is
 * larger than is kept of it, or has more values than are taken at once, the first messages are read: the agent sends the
 * rest again. A message that is too large by itself is {@link TOO_LARGE}, so that the agent gets past it.
 *
 * @param charge - learns what memory the values take, as they are read
 * @throws {Refusal} 400 on anything that is no payload, and what `charge` throws
 */
export async function readPayload(body: KeptBody, charge: Charge): Promise<ExchangePayload> {
  const payload = await decodeBody(body, charge);
  const messages = payload['messages'];
  if (!Array.isArray(messages)) throw bad('messages must be a list');
  const digest = payload['accepted-types'];
  return {
    messages,
    sequence: counter(payload, 'sequence'),
    nextExpected: counter(payload, 'next-expected-sequence'),
    acceptedTypesDigest: digest instanceof Uint8Array ? Buffer.from(digest) : null,
    clientAcceptedTypes: typeNames(payload['client-accepted-types']),
  };
}

/** An agent that was away sends all at once, and the same again after a refusal: a hundred messages of 880 processes each. */
const LARGE_LIMITS = { maxValues: 1_500_000, maxDicts: 150_000 };
/** Large bodies that are read by turns at once; others wait for theirs, so that a turn stays short. */
const READ_AT_ONCE = 2;
const turns = new Gate(READ_AT_ONCE, Number.POSITIVE_INFINITY);

/** What a value, and a dict, take in memory at most, beside the bytes of the body. */
const VALUE_BYTES = 40;
const DICT_BYTES = 400;

async function decodeBody({ start, end }: KeptBody, charge: Charge): Promise<BObject> {
  const onProgress = (values: number, dicts: number): void => charge(values * VALUE_BYTES + dicts * DICT_BYTES);
  if (start.length <= LARGE_BYTES) return dictOf(() => decode(start, { replaceSurrogates: true, onProgress }));
  const limits = { ...LARGE_LIMITS, replaceSurrogates: true, onProgress };
  const { value, error } = await turns.run(() => decodePartialDict(start, limits));
  if (error && end === null && !error.isTooMuch) throw bad(error.message);
  const payload = dictOf(() => value);
  return error ? withoutRest(payload, end ?? start) : payload;
}

function dictOf(read: () => BValue): BObject {
  try {
    const value = read();
    if (isDict(value)) return value;
  } catch (error) {
    if (!(error instanceof BpickleError)) throw error;
    throw bad(error.message);
  }
  throw bad('the body must be a dict');
}

/** What stands behind the messages, in the order in which agents write it. */
const BEHIND_MESSAGES = ['next-expected-sequence', 'sequence'];
const MAX_BEHIND_BYTES = 4096;
const DICT = Buffer.from('d');

/** The payload of an agent whose messages are not all read: with its counters, which stand behind them. */
function withoutRest(start: BObject, end: Buffer): BObject {
  const { messages } = start;
  if (!Array.isArray(messages)) throw bad('messages must be a list');
  const bytes = end.subarray(-MAX_BEHIND_BYTES);
  const places = BEHIND_MESSAGES.map((key) => bytes.lastIndexOf(`${key.length}:${key}i`)).filter((place) => place > 0);
  if (places.length === 0) throw bad('sequence is missing');
  // One byte before the length is the type of the key.
  const behind = dictOf(() => decode(Buffer.concat([DICT, bytes.subarray(Math.min(...places) - 1)])));
  return { ...start, ...behind, messages: messages.length === 0 ? [TOO_LARGE] : messages };
}

function counter(payload: BObject, name: string): number | null {
  const value = payload[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || value < 0 || value > Number.MAX_SAFE_INTEGER / 2) throw bad(`${name} is no counter`);
  return value;
}

/** What is no name of a type is none that operations need: it is left out. */
function typeNames(value: BValue | undefined): string[] | null {
  if (!Array.isArray(value)) return null;
  return value.slice(0, MAX_CLIENT_TYPES).flatMap((name) => {
    const text = name instanceof Uint8Array ? Buffer.from(name).toString('latin1') : name;
    if (typeof text !== 'string' || text.length > MAX_TYPE_LENGTH) return [];
    return text.replaceAll('\0', '').toWellFormed();
  });
}

function bad(message: string): Refusal {
  return new Refusal(400, 'InvalidParameter', message);
}
