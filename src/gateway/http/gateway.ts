import { getHeapStatistics } from 'node:v8';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { Registry } from 'prom-client';
import type { Persistence } from '../../persistence/orm/orm.ts';
import { BodyBudget } from '../../process/body-budget.ts';
import type { Config } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { Clock } from '../../services/common/ports.ts';
import { TokenBuckets } from '../../services/common/token-buckets.ts';
import { simulationKey } from '../../services/computers/simulated-computers.ts';
import { ContactBuffer } from '../contact/contact-buffer.ts';
import { pingRoute } from '../contact/ping.route.ts';
import { PingDesk } from '../contact/pings.ts';
import { IdentifiedExchange } from '../exchange/exchange.ts';
import { messageSystemRoute } from '../exchange/message-system.route.ts';
import { OperationTraces } from '../exchange/operation-traces.ts';
import { createSessionStore } from '../exchange/session-store.ts';
import { PackageCatalogue } from '../facts/saving/package-catalogue.ts';
import { attachmentRoute } from './attachments.ts';
import type { ClientAddress } from './client-address.ts';
import { refusalOf } from './failure.ts';
import { Gate } from './gate.ts';
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts';
import { Refusal, sendRefusal } from './refusal.ts';

export interface GatewayDeps {
  persistence: Persistence;
  config: Config;
  logger: Logger;
  clock: Clock;
  /** Where metrics are kept; in one of its own, that nobody reads, when left out. */
  registry?: Registry;
  /** Default: the peer's address. */
  clientAddress?: ClientAddress;
}

export interface Gateway {
  /** Serves the agents' paths and nothing else; reads bodies itself. */
  router: Router;
  /** Writes what is still buffered. Call it once no request is under way. */
  close(): Promise<void>;
}

/** Connections of the pool for sessions read and written in batches, pings and times of contact. */
const SPARED_CONNECTIONS = 6;
const MAX_WAITING_EXCHANGES = 50_000;
/** Bodies and what they unpack into: a part of what V8 may use, which is less in a small container. */
const MAX_BODIES_BYTES = Math.min(1024 * 1024 * 1024, getHeapStatistics().heap_size_limit / 3);

/** An exchange costs 1 and each message 0.1: a computer may send some hundred exchanges at once, then 50 a second. */
const EXCHANGE_LIMITS = { burst: 500, perSecond: 50, maxKeys: 200_000 };
const PING_LIMITS = { burst: 100, perSecond: 10, maxKeys: 200_000 };
const MOVE_LIMITS = { burst: 1, perSecond: 1 / 600, maxKeys: 50_000 };
/** Addresses and accounts whose registrations are counted. */
const MAX_SENDERS = 50_000;
const REFUSAL_LIMITS = { burst: 1000, perSecond: 2, maxKeys: 50_000 };

/**
 * Builds the side of the server that agents talk to. Several gateways may serve one database.
 *
 * @see docs/agent-protocol.md#agent-protocol
 */
export function createGateway(deps: GatewayDeps): Gateway {
  const { persistence, config, logger, clock } = deps;
  const db = persistence.keyed;
  const metrics = createGatewayMetrics(deps.registry ?? new Registry());
  const contacts = new ContactBuffer(db, logger);
  const gate = new Gate(Math.max(1, config.databasePoolSize - SPARED_CONNECTIONS), MAX_WAITING_EXCHANGES);
  const serverUuid = readOnce(async () => {
    const [row] = await db.query<{ value: string }>(`select value from system_setting where key = 'server_uuid'`);
    return row!.value;
  });
  const exchange = new IdentifiedExchange({
    db,
    logger,
    clock,
    gate,
    sessions: createSessionStore(db, clock, metrics.batched),
    metrics,
    traces: new OperationTraces(db),
    contacts,
    serverUuid,
    catalogue: new PackageCatalogue(db),
    encryptionKeys: config.encryptionKeys,
  });
  const { activities: settings, scriptProfiles: limits, publicUrl } = config;
  const runs = { settings, limits, publicUrl };
  const desk = new PingDesk(db, clock, metrics.batched);
  const clientAddress = deps.clientAddress ?? ((req) => req.socket.remoteAddress ?? 'unknown');
  const rate = config.traffic.enrolment && new TokenBuckets({ ...config.traffic.enrolment, maxKeys: MAX_SENDERS });
  const refusals = new TokenBuckets(REFUSAL_LIMITS);
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route('/message-system')
    .post(
      metrics.measured(
        'message-system',
        messageSystemRoute({
          exchange,
          serverUuid,
          clock,
          budget: new BodyBudget(MAX_BODIES_BYTES),
          floods: new TokenBuckets(EXCHANGE_LIMITS),
          enrolment: {
            ...{ db, logger, clock, gate, refusals, rate, runs, metrics },
            simulationKey: simulationKey(config.encryptionKeys),
          },
          clientAddress,
        }),
      ),
    )
    .all(wrongMethod('POST'));
  router
    .route('/ping')
    .post(
      metrics.measured(
        'ping',
        pingRoute({
          ...{ desk, contacts, clock, clientAddress, metrics },
          floods: new TokenBuckets(PING_LIMITS),
          moves: new TokenBuckets(MOVE_LIMITS),
        }),
      ),
    )
    .all(wrongMethod('POST'));
  router
    .route('/attachment/:id')
    .get(metrics.measured('attachment', attachmentRoute(db, clientAddress)))
    .all(wrongMethod('GET'));
  router
    .route('/hash-id-databases/*name')
    .get(() => {
      throw new Refusal(404, 'NotFound', 'There is no such database');
    })
    .all(wrongMethod('GET'));
  router.use(failure(logger, metrics));
  return { router, close: () => contacts.close() };
}

/** Remembers the first good answer; a failed attempt is made again by the next caller. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= read().catch((error: unknown) => {
      value = null;
      throw error;
    });
    return value;
  };
}

function wrongMethod(allowed: string) {
  return (_req: Request, res: Response): void => {
    res.set('Allow', allowed);
    sendRefusal(res, new Refusal(405, 'MethodNotAllowed', `Use ${allowed}`));
  };
}

/** Whatever went wrong, agents take it as "try again"; nothing was stored. */
function failure(logger: Logger, metrics: GatewayMetrics) {
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const refusal = refusalOf(error, logger);
    metrics.refused(refusal.code);
    sendRefusal(res, refusal);
  };
}
