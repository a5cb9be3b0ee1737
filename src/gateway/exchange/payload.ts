import { DomainError } from '../../domain/common/errors.ts';
import { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import { LARGE_BYTES } from '../../process/admission/request-memory.ts';
import { type BObject, BpickleError, type BValue, decode, decodePartialDict, isDict } from '../../protocol/bpickle.ts';
import { TOO_LARGE } from '../facts/read-messages.ts';
import type { ChargeMemory, RequestBody } from '../http/request.ts';

/** Decoded body of POST /message-system. @see docs/agent-protocol.md#exchange-payloads */
export interface ExchangePayload {
  messages: readonly BValue[];
  /** Null in payloads of the setup tool. */
  sequence: number | null;
  nextExpected: number | null;
  acceptedTypesDigest: Buffer | null;
  clientAcceptedTypes: string[] | null;
}

const MAX_CLIENT_TYPES = 1000;
const MAX_TYPE_LENGTH = 200;

/** After being offline or after an error an agent sends everything at once: a hundred messages of 880 processes. */
const LARGE_LIMITS = { maxValues: 1_500_000, maxDicts: 150_000 };
const MAX_CONCURRENT_LARGE_BODIES = 2;

/**
 * Creates what reads bodies, few large ones at a time. It validates all but messages. Beyond the limits it reads the
 * first messages only: the agent resends the rest. Too large ones become {@link TOO_LARGE}, so as not to block the
 * agent. It throws {DomainError} 400, and what `charge` throws.
 */
export function payloadReader(): (body: RequestBody, charge: ChargeMemory) => Promise<ExchangePayload> {
  const largeBodies = new ConcurrencyLimiter({ concurrency: MAX_CONCURRENT_LARGE_BODIES });
  return async (body, charge) => toPayload(await decodeBody(body, charge, largeBodies));
}

function toPayload(payload: BObject): ExchangePayload {
  const messages = payload['messages'];
  if (!Array.isArray(messages)) throw badRequest('messages must be a list');
  const digest = payload['accepted-types'];
  return {
    messages,
    sequence: counter(payload, 'sequence'),
    nextExpected: counter(payload, 'next-expected-sequence'),
    acceptedTypesDigest: digest instanceof Uint8Array ? Buffer.from(digest) : null,
    clientAcceptedTypes: typeNames(payload['client-accepted-types']),
  };
}

/** Memory of a value, and of a dict, beside the bytes of the body: upper bounds. */
const VALUE_BYTES = 40;
const DICT_BYTES = 400;

async function decodeBody(
  { start, end }: RequestBody,
  charge: ChargeMemory,
  largeBodies: ConcurrencyLimiter,
): Promise<BObject> {
  const onProgress = (values: number, dicts: number): void => charge(values * VALUE_BYTES + dicts * DICT_BYTES);
  if (start.length <= LARGE_BYTES) return dictOf(() => decode(start, { replaceSurrogates: true, onProgress }));
  const limits = { ...LARGE_LIMITS, replaceSurrogates: true, onProgress };
  const { value, error } = await largeBodies.run('', () => decodePartialDict(start, limits));
  if (error && end === null && !error.isTooMuch) throw badRequest(error.message);
  const payload = dictOf(() => value);
  return error ? withTrailingCounters(payload, end ?? start) : payload;
}

function dictOf(read: () => BValue): BObject {
  try {
    const value = read();
    if (isDict(value)) return value;
  } catch (error) {
    if (!(error instanceof BpickleError)) throw error;
    throw badRequest(error.message);
  }
  throw badRequest('the body must be a dict');
}

const TRAILING_COUNTERS = ['next-expected-sequence', 'sequence'];
const MAX_TRAILING_BYTES = 4096;
const DICT = Buffer.from('d');

function withTrailingCounters(start: BObject, end: Buffer): BObject {
  const { messages } = start;
  if (!Array.isArray(messages)) throw badRequest('messages must be a list');
  const bytes = end.subarray(-MAX_TRAILING_BYTES);
  const offsets = TRAILING_COUNTERS.map((key) => bytes.lastIndexOf(`${key.length}:${key}i`)).filter(
    (offset) => offset > 0,
  );
  if (offsets.length === 0) throw badRequest('sequence is missing');
  // One byte before the length is the type of the key.
  const counters = dictOf(() => decode(Buffer.concat([DICT, bytes.subarray(Math.min(...offsets) - 1)])));
  return { ...start, ...counters, messages: messages.length === 0 ? [TOO_LARGE] : messages };
}

function counter(payload: BObject, name: string): number | null {
  const value = payload[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || value < 0 || value > Number.MAX_SAFE_INTEGER / 2)
    throw badRequest(`${name} is not a counter`);
  return value;
}

function typeNames(value: BValue | undefined): string[] | null {
  if (!Array.isArray(value)) return null;
  return value.slice(0, MAX_CLIENT_TYPES).flatMap((name) => {
    const text = name instanceof Uint8Array ? Buffer.from(name).toString('latin1') : name;
    if (typeof text !== 'string' || text.length > MAX_TYPE_LENGTH) return [];
    return text.replaceAll('\0', '').toWellFormed();
  });
}

function badRequest(message: string): DomainError {
  return new DomainError('InvalidParameter', message);
}
