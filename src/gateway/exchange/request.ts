import { LARGE_BYTES } from '../../body-budget.ts';
import { type BObject, BpickleError, type BValue, decode, decodeInTurns, isDict } from '../../protocol/bpickle.ts';
import type { Charge } from '../http/body.ts';
import { Gate } from '../http/gate.ts';
import { Refusal } from '../http/refusal.ts';

/** Decoded body of POST /message-system. @see agent-protocol 3 */
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
 * Decodes and checks the frame of an exchange; the messages inside are checked one by one, later.
 *
 * @param charge - learns what memory the values take, as they are read
 * @throws {Refusal} 400 on anything that is no payload, and what `charge` throws
 */
export async function readPayload(body: Buffer, charge: Charge): Promise<ExchangePayload> {
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

async function decodeBody(body: Buffer, charge: Charge): Promise<BObject> {
  const onStep = (values: number, dicts: number): void => charge(values * VALUE_BYTES + dicts * DICT_BYTES);
  try {
    const value =
      body.length <= LARGE_BYTES
        ? decode(body, { replaceSurrogates: true, onStep })
        : await turns.run(() => decodeInTurns(body, { ...LARGE_LIMITS, replaceSurrogates: true, onStep }));
    if (isDict(value)) return value;
  } catch (error) {
    if (!(error instanceof BpickleError)) throw error;
    throw bad(error.message);
  }
  throw bad('the body must be a dict');
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
