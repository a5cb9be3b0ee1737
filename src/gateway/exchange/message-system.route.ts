import type { Request, Response } from 'express';
import type { BodyBudget } from '../../process/body-budget.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { TokenBuckets } from '../../services/common/token-buckets.ts';
import { hashSecureId } from '../enrolment/secure-id.ts';
import { answerWithoutIdentity, type EnrolmentDeps } from '../enrolment/without-identity.ts';
import { announcedBytes, type Charge, type KeptBody, withKeptBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { Refusal } from '../http/refusal.ts';
import { sendBytes } from '../http/send.ts';
import { encodeAnswer } from './answer.ts';
import type { IdentifiedExchange } from './exchange.ts';
import { type ExchangePayload, readPayload } from './request.ts';

export interface MessageSystemDeps {
  exchange: IdentifiedExchange;
  enrolment: EnrolmentDeps;
  serverUuid(): Promise<string>;
  clock: Clock;
  budget: BodyBudget;
  floods: TokenBuckets;
  clientAddress: ClientAddress;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Agents that were away keep up to some hundred megabytes; of more than `MAX_BODY_BYTES` they get through in parts. */
const MAX_READ_BYTES = 1024 * 1024 * 1024;
const SUPPORTED_APIS = new Set(['3.2', '3.3']);
const MESSAGE_COST = 0.1;

/**
 * POST /message-system.
 *
 * @throws {Refusal} 400 on what is no payload, 404 on an API version that is not spoken here, 413, 429, 503
 * @see docs/agent-protocol.md#transport
 */
export function messageSystemRoute(deps: MessageSystemDeps) {
  return async (req: Request, res: Response): Promise<void> => {
    const api = req.headers['x-message-api'];
    if (api !== undefined && !SUPPORTED_APIS.has(String(api))) {
      throw new Refusal(404, 'NotFound', 'This version of the message API is not supported');
    }
    const limits = { keptBytes: MAX_BODY_BYTES, readBytes: await readBytes(deps, req) };
    sendBytes(res, await withKeptBody(req, limits, deps.budget, (body, charge) => answerBody(deps, req, body, charge)));
  };
}

/** Nobody but a known computer may send more than is kept. */
async function readBytes({ exchange }: MessageSystemDeps, req: Request): Promise<number> {
  const secureId = req.headers['x-computer-id'];
  if (announcedBytes(req) <= MAX_BODY_BYTES || typeof secureId !== 'string') return MAX_BODY_BYTES;
  return (await exchange.knows(hashSecureId(secureId))) ? MAX_READ_BYTES : MAX_BODY_BYTES;
}

async function answerBody(deps: MessageSystemDeps, req: Request, body: KeptBody, charge: Charge): Promise<Buffer> {
  const payload = await readPayload(body, charge);
  const secureId = req.headers['x-computer-id'];
  if (typeof secureId !== 'string' || secureId === '') {
    const messages = await answerWithoutIdentity(deps.enrolment, payload.messages, deps.clientAddress(req));
    return encodeAnswer(await deps.serverUuid(), messages, null);
  }
  if (!hasSequence(payload)) throw new Refusal(400, 'InvalidParameter', 'sequence is missing');
  const secureIdHash = hashSecureId(secureId);
  const cost = 1 + payload.messages.length * MESSAGE_COST;
  const waitSeconds = deps.floods.take(secureIdHash.toString('latin1'), cost, deps.clock.now().getTime());
  if (waitSeconds > 0) throw new Refusal(429, 'TooManyRequests', 'This computer exchanges too much', waitSeconds);
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
