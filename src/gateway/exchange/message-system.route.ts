import { DomainError } from '../../domain/common/errors.ts';
import type { Request, Response } from 'express';
import type { ClientAddress } from '../../process/client-address.ts';
import type { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { TokenBuckets } from '../../process/admission/token-buckets.ts';
import { hashSecureId } from '../enrolment/identity.ts';
import { type RegistrationDeps, register } from '../enrolment/register.ts';
import { type ChargeMemory, contentLength, type RequestBody, withBody } from '../http/request.ts';
import { sendBytes } from '../http/response.ts';
import type { IdentifiedExchange } from './exchange.ts';
import { type ExchangePayload, payloadReader } from './payload.ts';
import { encodeResponse } from './response.ts';

interface MessageSystemDeps {
  exchange: IdentifiedExchange;
  registration: RegistrationDeps;
  serverUuid(): Promise<string>;
  clock: Clock;
  memoryLimit: RequestMemoryLimit;
  exchanges: TokenBuckets;
  clientAddress: ClientAddress;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Agents that were offline can have hundreds of megabytes; they resend what exceeds `MAX_BODY_BYTES`. */
const MAX_READ_BYTES = 1024 * 1024 * 1024;
const SUPPORTED_APIS = new Set(['3.2', '3.3']);
const MESSAGE_COST = 0.1;

/** POST /message-system. @throws {DomainError} 400, 404, 413, 429, 503 @see docs/agent-protocol.md#transport */
export function messageSystemRoute(deps: MessageSystemDeps) {
  const readPayload = payloadReader();
  return async (req: Request, res: Response): Promise<void> => {
    const api = req.headers['x-message-api'];
    if (api !== undefined && !SUPPORTED_APIS.has(String(api))) {
      throw new DomainError('NotFound', 'This version of the message API is not supported');
    }
    const limits = { keptBytes: MAX_BODY_BYTES, readBytes: await maxReadBytes(deps, req) };
    const respond = async (body: RequestBody, charge: ChargeMemory) =>
      exchange(deps, req, body, await readPayload(body, charge));
    sendBytes(res, await withBody(req, limits, deps.memoryLimit, respond));
  };
}

async function maxReadBytes(deps: MessageSystemDeps, req: Request): Promise<number> {
  const secureId = req.headers['x-computer-id'];
  if (contentLength(req) <= MAX_BODY_BYTES || typeof secureId !== 'string') return MAX_BODY_BYTES;
  return (await deps.exchange.isKnown(hashSecureId(secureId))) ? MAX_READ_BYTES : MAX_BODY_BYTES;
}

async function exchange(
  deps: MessageSystemDeps,
  req: Request,
  body: RequestBody,
  payload: ExchangePayload,
): Promise<Buffer> {
  const secureId = req.headers['x-computer-id'];
  if (typeof secureId !== 'string' || secureId === '') {
    const messages = await register(deps.registration, payload.messages, deps.clientAddress(req));
    return encodeResponse(await deps.serverUuid(), messages, null);
  }
  if (!hasSequence(payload)) throw new DomainError('InvalidParameter', 'sequence is missing');
  const secureIdHash = hashSecureId(secureId);
  const cost = 1 + payload.messages.length * MESSAGE_COST;
  const waitSeconds = deps.exchanges.take(secureIdHash.toString('latin1'), cost, deps.clock.now().getTime());
  if (waitSeconds > 0)
    throw new DomainError('TooManyRequests', 'This computer exchanges too often', { retryAfterSeconds: waitSeconds });
  const token = req.headers['x-exchange-token'];
  return deps.exchange.handle({
    secureIdHash,
    token: typeof token === 'string' && token !== '' ? token : null,
    body: body.start,
    address: deps.clientAddress(req),
    payload,
  });
}

function hasSequence(payload: ExchangePayload): payload is ExchangePayload & { sequence: number } {
  return payload.sequence !== null;
}
