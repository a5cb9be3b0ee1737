import { type BObject, BpickleError, type BValue, decode, decodeInTurns, isDict } from '../../protocol/bpickle.ts';
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
 * @throws {Refusal} 400 on anything that is no payload
 */
export async function readPayload(body: Buffer): Promise<ExchangePayload> {
  const payload = await decodeBody(body);
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

/** What is larger is read in several turns. */
export const LARGE_BYTES = 64 * 1024;

async function decodeBody(body: Buffer): Promise<BObject> {
  try {
    const value = body.length <= LARGE_BYTES ? decode(body) : await decodeInTurns(body);
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

function typeNames(value: BValue | undefined): string[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || value.length > MAX_CLIENT_TYPES) throw bad('client-accepted-types must be a list');
  return value.map((name) => {
    const text = name instanceof Uint8Array ? Buffer.from(name).toString('latin1') : name;
    if (typeof text !== 'string' || text.length > MAX_TYPE_LENGTH) throw bad('client-accepted-types must be names');
    return text.replaceAll('\0', '').toWellFormed();
  });
}

function bad(message: string): Refusal {
  return new Refusal(400, 'InvalidParameter', message);
}
