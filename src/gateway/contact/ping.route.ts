import { DomainError } from '../../domain/common/errors.ts';
import type { Request, Response } from 'express';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import { encode } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { TokenBuckets } from '../../process/admission/token-buckets.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import { withBody } from '../http/request.ts';
import { sendBytes } from '../http/response.ts';
import type { ContactBuffer } from './contact-buffer.ts';
import type { PingHandler, PingStatus } from './ping-handler.ts';

const BODY_LIMITS = { keptBytes: 4096, readBytes: 4096 };
const FORM = /(?:^|&)insecure_id=(\d{1,10})(?:&|$)/;

/** Agents only exchange on exactly `{messages: true}`. */
const RESPONSES: Readonly<Record<PingStatus, Buffer>> = {
  messages: encode({ messages: true }),
  nothing: encode({ messages: false }),
  unknown: encode({}),
};

export interface PingDeps {
  handler: PingHandler;
  contacts: ContactBuffer;
  clock: Clock;
  pings: TokenBuckets;
  addressChanges: TokenBuckets;
  clientAddress: ClientAddress;
  metrics: Pick<GatewayMetrics, 'pinged'>;
}

/** POST /ping, unauthenticated; a contact only if from the last exchange's network. @throws {DomainError} 413, 429 */
export function pingRoute(deps: PingDeps) {
  const memoryLimit = new RequestMemoryLimit(Number.POSITIVE_INFINITY);
  return async (req: Request, res: Response): Promise<void> => {
    const status = await withBody(req, BODY_LIMITS, memoryLimit, async ({ start: body }) => {
      const computerId = Number(FORM.exec(body.toString('latin1'))?.[1] ?? 0);
      return computerId < 1 || computerId > MAX_INT4 ? 'unknown' : ping(deps, computerId, deps.clientAddress(req));
    });
    deps.metrics.pinged(status);
    sendBytes(res, RESPONSES[status]);
  };
}

async function ping(deps: PingDeps, computerId: number, address: string): Promise<PingStatus> {
  const now = deps.clock.now();
  // The address is part of the key, so that others cannot exhaust a computer's limit.
  const key = `${computerId} ${address}`;
  const waitSeconds = deps.pings.take(key, 1, now.getTime());
  if (waitSeconds > 0)
    throw new DomainError('TooManyRequests', 'This computer pings too often', { retryAfterSeconds: waitSeconds });
  const { status, isFromOtherNetwork } = await deps.handler.handle(computerId, address);
  if (!isFromOtherNetwork) deps.contacts.pinged(computerId, now);
  const shouldExchange =
    isFromOtherNetwork && status === 'nothing' && deps.addressChanges.take(key, 1, now.getTime()) === 0;
  return shouldExchange ? 'messages' : status;
}
