import type { Request, Response } from 'express';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { BodyBudget } from '../../process/body-budget.ts';
import { encode } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { TokenBuckets } from '../../services/common/token-buckets.ts';
import { withBody } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import { Refusal } from '../http/refusal.ts';
import { sendBytes } from '../http/send.ts';
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
  /** Limits how often a ping from a new address has its computer exchange. */
  moves: TokenBuckets;
  clientAddress: ClientAddress;
  metrics: Pick<GatewayMetrics, 'pinged'>;
}

/**
 * POST /ping: tells an agent whether messages wait for it.
 *
 * Anybody can name any computer here. Only a ping from the network that the computer last exchanged from counts as heard
 * from it; one from elsewhere changes nothing, and has the computer exchange, which shows whether it has moved.
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
      const address = deps.clientAddress(req);
      const key = `${computerId} ${address}`;
      // By address too: nobody else must be able to silence a computer.
      const waitSeconds = deps.floods.take(key, 1, now.getTime());
      if (waitSeconds > 0) throw new Refusal(429, 'TooManyRequests', 'This computer pings too often', waitSeconds);
      const { answer, isElsewhere } = await deps.desk.answer(computerId, address);
      if (!isElsewhere) deps.contacts.pinged(computerId, now);
      const mayExchange = isElsewhere && answer === 'nothing' && deps.moves.take(key, 1, now.getTime()) === 0;
      return mayExchange ? 'messages' : answer;
    });
    deps.metrics.pinged(answer);
    sendBytes(res, ANSWERS[answer]);
  };
}
