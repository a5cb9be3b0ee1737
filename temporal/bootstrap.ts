import type { Connection } from '@temporalio/client';
import { msToNumber, msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import pRetry from 'p-retry';
import { retryEvery } from '../src/process/retry.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../workflows/contracts/search-attribute-names.ts';
import { connectClient, type TemporalSettings } from './client/connection.ts';
import { makeBuildCurrent } from './client/deployment.ts';
import { GRPC, hasCode } from './client/grpc-codes.ts';
import { type ReencryptionReport, reencryptSchedules } from './schedules/reencrypt-schedules.ts';
import { upsertSchedules } from './schedules/schedules.ts';

/** All are of the type Keyword. */
const SEARCH_ATTRIBUTES = Object.values(SEARCH_ATTRIBUTE_NAMES);
const RETENTION = '30 days';
/** Of a namespace that the CLI's server creates itself: raised to 30 days. Others keep their retention. */
const LOCAL_RETENTION = '1 day';
const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
const TRY_LIMIT_MS = 2_000;
const PAUSE_MS = 100;

/** The server did not start, or did not apply a registration, in time. */
export class BootstrapError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'BootstrapError';
  }
}

interface BootstrapOptions {
  /** The server belongs to this stack alone. */
  isLocal?: boolean;
  /** Starts to become current before its worker polls: on a new server that takes a second. */
  build?: string;
}

/** Prepares namespace, search attributes, schedules, keys. Idempotent, also concurrently. @throws {BootstrapError} */
export async function bootstrap(
  config: TemporalSettings,
  waitMs = 60_000,
  { isLocal = false, build }: BootstrapOptions = {},
): Promise<ReencryptionReport> {
  const { client, close } = await connectClient(config);
  const { connection } = client;
  const namespace = config.temporalNamespace;
  const until = Date.now() + waitMs;
  const retry = (what: string, work: () => Promise<unknown>) =>
    retryUntil(until, what, () => connection.withDeadline(Date.now() + TRY_LIMIT_MS, work));
  try {
    const server = connection as Connection;
    await retry('the Temporal server does not respond', () => server.workflowService.getSystemInfo({}));
    await retry('the namespace cannot be registered', () => ensureNamespace(server, namespace, isLocal));
    await retry('the search attributes cannot be registered', () => ensureSearchAttributes(server, namespace));
    // The server's caches lag behind a registration; this query fails until they know namespace and attributes.
    const conditions = SEARCH_ATTRIBUTES.map((name) => `${name} = '0'`);
    await retry('the namespace is not usable yet', () => client.workflow.count(conditions.join(' AND ')));
    // Not waited for: its worker does that, and repeats it after a failure.
    if (build) makeBuildCurrent(config, build, TRY_LIMIT_MS, { allowNoPollers: true }).catch(() => undefined);
    await retry('the schedules cannot be set', () => upsertSchedules(client));
    return await reencryptSchedules(client, config.encryptionKeys).catch((error: unknown) => {
      throw new BootstrapError(`the schedules cannot be encrypted with the first key: ${describe(error)}`, error);
    });
  } finally {
    await close();
  }
}

async function retryUntil(until: number, what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await pRetry(work, retryEvery(PAUSE_MS, until - Date.now()));
  } catch (error) {
    throw new BootstrapError(`${what}: ${describe(error)}`, error);
  }
}

async function ensureNamespace(connection: Connection, namespace: string, isLocal: boolean): Promise<void> {
  const service = connection.workflowService;
  const found = await service.describeNamespace({ namespace }).catch((error: unknown) => {
    if (hasCode(error, GRPC.notFound)) return null;
    throw error;
  });
  const workflowExecutionRetentionTtl = msToTs(RETENTION);
  if (found) {
    const retentionMs = optionalTsToMs(found.config?.workflowExecutionRetentionTtl);
    if (!isLocal || retentionMs !== msToNumber(LOCAL_RETENTION)) return;
    await service.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
    return;
  }
  await service
    .registerNamespace({ namespace, workflowExecutionRetentionPeriod: workflowExecutionRetentionTtl })
    .catch(ignoreExisting);
}

async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter((name) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, GRPC.alreadyExists)) throw error;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
