import type { Request, Response } from 'express';
import { BodyBudget } from '../../body-budget.ts';
import { MAX_INT4 } from '../../domain/integers.ts';
import { encode } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/ports.ts';
import type { TokenBuckets } from '../../services/token-buckets.ts';
import { withBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { Refusal } from '../http/refusal.ts';
import { sendBytes } from '../http/send.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { ContactBuffer } from './contact-buffer.ts';
import type { PingAnswer, PingDesk } from './pings.ts';

const MAX_BODY_BYTES = 4096;
const FORM = /(?:^|&)insecure_id=(\d{1,10})(?:&|$)/;

/** Only exactly `{messages: true}` makes an agent exchange. */
const ANSWERS: Readonly<Record<PingAnswer, Buffer>> = {
  messages: encode({ messages: true }),
  nothing: encode({ messages: false }),
  unknown: encode({}),
};

export interface PingDeps {
  desk: PingDesk;
  contacts: ContactBuffer;
  clock: Clock;
  floods: TokenBuckets;
  clientAddress: ClientAddress;
  metrics: Pick<GatewayMetrics, 'pinged'>;
}

/**
 * POST /ping: tells an agent whether messages wait for it.
 *
 * @throws {Refusal} 413 and 429; a body that names no computer is answered like an unknown one
 */
export function pingRoute(deps: PingDeps) {
  const budget = new BodyBudget(Number.POSITIVE_INFINITY);
  return async (req: Request, res: Response): Promise<void> => {
    const answer = await withBody(req, MAX_BODY_BYTES, budget, async (body) => {
      const computerId = Number(FORM.exec(body.toString('latin1'))?.[1] ?? 0);
      if (computerId < 1 || computerId > MAX_INT4) return 'unknown';
      const now = deps.clock.now();
      // By address too: anybody can name any computer here, and must not be able to silence it.
      const waitSeconds = deps.floods.take(`${computerId} ${deps.clientAddress(req)}`, 1, now.getTime());
      if (waitSeconds > 0) throw new Refusal(429, 'TooManyRequests', 'This computer pings too often', waitSeconds);
      const found = await deps.desk.answer(computerId);
      if (found !== 'unknown') deps.contacts.pinged(computerId, now);
      return found;
    });
    deps.metrics.pinged(answer);
    sendBytes(res, ANSWERS[answer]);
  };
}
