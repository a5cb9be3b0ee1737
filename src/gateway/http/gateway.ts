import { DomainError } from '../../domain/common/errors.ts';
import { getHeapStatistics } from 'node:v8';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { Registry } from 'prom-client';
import { findSetting } from '../../persistence/common/system-settings.repository.ts';
import type { Persistence } from '../../persistence/orm/orm.ts';
import { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import type { Config } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import type { Clock } from '../../services/common/ports.ts';
import { TokenBuckets } from '../../process/admission/token-buckets.ts';
import { simulationKey } from '../../services/computers/simulated-computers.ts';
import { ContactBuffer } from '../contact/contact-buffer.ts';
import { pingRoute } from '../contact/ping.route.ts';
import { createExchangeStore } from '../exchange/exchange-store.ts';
import { IdentifiedExchange } from '../exchange/exchange.ts';
import { messageSystemRoute } from '../exchange/message-system.route.ts';
import { OperationTraces } from '../exchange/operation-traces.ts';
import { PackageCatalogue } from '../facts/package-catalogue.ts';
import { attachmentRoute } from './attachments.ts';
import { hashIdDatabaseRoute } from './hash-id-databases.ts';
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts';
import { sendError, toDomainError, tooManyAtOnce } from './response.ts';

interface GatewayDeps {
  persistence: Persistence;
  config: Config;
  logger: Logger;
  clock: Clock;
  registry?: Registry;
  clientAddress?: ClientAddress;
}

export interface Gateway {
  router: Router;
  /** Writes buffered data. Call it after the last request has ended. */
  close(): Promise<void>;
}

const RESERVED_CONNECTIONS = 6;
const MAX_WAITING_EXCHANGES = 50_000;
/** Bodies and their decoded values: a share of V8's limit, which is lower in a small container. */
const MAX_BODIES_BYTES = Math.min(1024 * 1024 * 1024, getHeapStatistics().heap_size_limit / 3);

/** An exchange costs 1 and each message 0.1: a computer may send some hundred exchanges at once, then 50 a second. */
const EXCHANGE_LIMITS = { burst: 500, perSecond: 50, maxKeys: 200_000 };
const PING_LIMITS = { burst: 100, perSecond: 10, maxKeys: 200_000 };
const ADDRESS_CHANGE_LIMITS = { burst: 1, perSecond: 1 / 600, maxKeys: 50_000 };
const FAILED_REGISTRATION_LIMITS = { burst: 1000, perSecond: 2, maxKeys: 50_000 };
const MAX_REGISTRATION_KEYS = 50_000;

/** The agents' side of the server. Several may share a database. @see docs/agent-protocol.md#agent-protocol */
export function createGateway(deps: GatewayDeps): Gateway {
  const { persistence, config, logger, clock } = deps;
  const db = persistence.genericPlanDb;
  const metrics = createGatewayMetrics(deps.registry ?? new Registry());
  const contacts = new ContactBuffer(db, logger);
  const concurrency = Math.max(1, config.databasePoolSize - RESERVED_CONNECTIONS);
  const limiter = new ConcurrencyLimiter({ concurrency, maxQueued: MAX_WAITING_EXCHANGES }, tooManyAtOnce);
  const clientAddress = deps.clientAddress ?? ((req) => req.socket.remoteAddress ?? 'unknown');
  const serverUuid = cacheResult(async () => (await findSetting(db, 'server_uuid'))!);
  const { encryptionKeys, activities: settings, scriptProfiles: limits, publicUrl } = config;
  const exchange = new IdentifiedExchange({
    ...{ db, logger, clock, limiter, metrics, contacts, serverUuid, encryptionKeys },
    store: createExchangeStore(db, clock, metrics.batched),
    traces: new OperationTraces(db),
    catalogue: new PackageCatalogue(db),
    maxFast: config.fastAgents,
  });
  const { enrolment } = config.traffic;
  const registration = {
    ...{ db, logger, clock, limiter, metrics },
    failedRegistrations: new TokenBuckets(FAILED_REGISTRATION_LIMITS),
    registrations: enrolment && new TokenBuckets({ ...enrolment, maxKeys: MAX_REGISTRATION_KEYS }),
    runs: { settings, limits, publicUrl },
    simulationKey: simulationKey(encryptionKeys),
  };
  const exchanging = messageSystemRoute({
    ...{ exchange, registration, serverUuid, clock, clientAddress },
    memoryLimit: new RequestMemoryLimit(MAX_BODIES_BYTES),
    exchanges: new TokenBuckets(EXCHANGE_LIMITS),
  });
  const pinging = pingRoute({
    ...{ db, contacts, clock, clientAddress, metrics },
    pings: new TokenBuckets(PING_LIMITS),
    addressChanges: new TokenBuckets(ADDRESS_CHANGE_LIMITS),
  });
  const downloading = hashIdDatabaseRoute({
    ...{ db, clock, clientAddress, serverUuid },
    downloads: enrolment && new TokenBuckets({ ...enrolment, maxKeys: MAX_REGISTRATION_KEYS }),
  });
  const router = Router({ caseSensitive: true, strict: true });
  const route = (method: 'get' | 'post', path: string, name: string, handler: Handler) =>
    router.route(path)[method](metrics.measured(name, handler)).all(methodNotAllowed(method.toUpperCase()));
  route('post', '/message-system', 'message-system', exchanging);
  route('post', '/ping', 'ping', pinging);
  route('get', '/attachment/:id', 'attachment', attachmentRoute(db, clientAddress));
  route('get', '/hash-id-databases/*name', 'hash-id-database', downloading);
  router.use(handleErrors(logger, metrics));
  return { router, close: () => contacts.close() };
}

type Handler = (req: Request, res: Response) => Promise<void>;

function cacheResult<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= read().catch((error: unknown) => {
      value = null;
      throw error;
    });
    return value;
  };
}

function methodNotAllowed(allowed: string) {
  return (_req: Request, res: Response): void => {
    res.set('Allow', allowed);
    sendError(res, new DomainError('MethodNotAllowed', `Use ${allowed}`));
  };
}

function handleErrors(logger: Logger, metrics: GatewayMetrics) {
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const domainError = toDomainError(error, logger);
    metrics.rejected(domainError.code);
    sendError(res, domainError);
  };
}
