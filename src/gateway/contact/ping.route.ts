import type { Request, Response } from 'express';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { type PingedComputer, readPings } from '../../persistence/agents/contacts.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { Batcher } from '../../process/admission/batcher.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import { encode } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { TokenBuckets } from '../../process/admission/token-buckets.ts';
import { isOtherNetwork } from '../exchange/suspected-clones.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import { withBody } from '../http/request.ts';
import { rejectIfLimited, sendBytes } from '../http/response.ts';
import type { ContactBuffer } from './contact-buffer.ts';

const BODY_LIMITS = { keptBytes: 4096, readBytes: 4096 };
const FORM = /(?:^|&)insecure_id=(\d{1,10})(?:&|$)/;

/** Agents only exchange on exactly `{messages: true}`. */
const RESPONSES = {
  messages: encode({ messages: true }),
  nothing: encode({ messages: false }),
  unknown: encode({}),
};

type PingStatus = keyof typeof RESPONSES;

/** Pings that arrive within this time share a query; agents ping every 30 seconds. */
const BATCHES = { gatherMs: 25, size: 2000, concurrency: 2 };

interface PingDeps {
  db: Database;
  contacts: ContactBuffer;
  clock: Clock;
  pings: TokenBuckets;
  addressChanges: TokenBuckets;
  clientAddress: ClientAddress;
  metrics: Pick<GatewayMetrics, 'pinged' | 'batched'>;
}

/** POST /ping, unauthenticated; a contact only if from the last exchange's network. @throws {DomainError} 413, 429 */
export function pingRoute(deps: PingDeps) {
  const memoryLimit = new RequestMemoryLimit(Number.POSITIVE_INFINITY);
  const computers = new Batcher((ids: number[]) => readComputers(deps, ids), BATCHES);
  return async (req: Request, res: Response): Promise<void> => {
    const status = await withBody(req, BODY_LIMITS, memoryLimit, async ({ start: body }) => {
      const computerId = Number(FORM.exec(body.toString('latin1'))?.[1] ?? 0);
      return computerId < 1 || computerId > MAX_INT4
        ? 'unknown'
        : ping(deps, computers, computerId, deps.clientAddress(req));
    });
    deps.metrics.pinged(status);
    sendBytes(res, RESPONSES[status]);
  };
}

async function readComputers({ db, clock, metrics }: PingDeps, ids: readonly number[]) {
  metrics.batched('ping', ids.length);
  const rows = await readPings(db, ids, clock.now());
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Whether the computer should exchange messages soon. @see docs/agent-protocol.md#pings-and-timing */
async function ping(
  { clock, pings, contacts, addressChanges }: PingDeps,
  computers: Batcher<number, PingedComputer | null>,
  computerId: number,
  address: string,
): Promise<PingStatus> {
  const now = clock.now();
  // The address is part of the key, so that others cannot exhaust a computer's limit.
  const key = `${computerId} ${address}`;
  rejectIfLimited(pings.take(key, 1, now.getTime()), 'This computer pings too often');
  const computer = await computers.call('', computerId);
  if (!computer) return 'unknown';
  const isFromOtherNetwork = isOtherNetwork(computer.lastAddress, address);
  if (!isFromOtherNetwork) contacts.pinged(computerId, now);
  if (computer.waiting) return 'messages';
  return isFromOtherNetwork && addressChanges.take(key, 1, now.getTime()) === 0 ? 'messages' : 'nothing';
}
