import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type Payload, ValueError } from '@temporalio/common';
import type proto from '@temporalio/proto';
import { ConcurrencyLimiter } from '../../src/process/admission/concurrency-limiter.ts';
import type { EncryptionKey } from '../../src/process/config.ts';
import { CALL_LIMIT_MS } from '../client/connection.ts';
import { GRPC, hasCode } from '../client/grpc-codes.ts';
import { EncryptionCodec } from '../encryption/payload-codec.ts';

type Action = proto.temporal.api.workflow.v1.INewWorkflowExecutionInfo;
type Outcome = 'reencrypted' | 'current' | 'unreadable';

export interface ReencryptionReport {
  reencrypted: number;
  /** Ids of schedules whose key is not configured; they are left unchanged. */
  unreadable: string[];
}

const CONCURRENCY = 8;
/** Other processes may change a schedule between two calls. */
const TRIES = 5;
const PAUSE_MS = 100;

/**
 * Changes only arguments. Idempotent, also concurrently.
 * @throws when the server rejects a schedule, after all others @see docs/architecture.md#keys-of-schedules
 */
export async function reencryptSchedules(client: Client, keys: readonly EncryptionKey[]): Promise<ReencryptionReport> {
  const report: ReencryptionReport = { reencrypted: 0, unreadable: [] };
  if (keys.length < 2) return report;
  const codec = new EncryptionCodec(keys);
  const ids = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () => listIds(client));
  const limiter = new ConcurrencyLimiter({ concurrency: CONCURRENCY });
  const reencryptOne = async (scheduleId: string): Promise<void> => {
    const outcome = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () => reencrypt(client, codec, scheduleId));
    if (outcome === 'reencrypted') report.reencrypted += 1;
    if (outcome === 'unreadable') report.unreadable.push(scheduleId);
  };
  const ends = await Promise.allSettled(ids.map((id) => limiter.run('', () => reencryptOne(id))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return report;
}

async function listIds(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
  return ids;
}

/** Sends the server's own form of the schedule back, so that only the payloads can change. */
async function reencrypt(client: Client, codec: EncryptionCodec, scheduleId: string): Promise<Outcome> {
  const { namespace, identity } = client.options;
  const service = client.workflowService;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const found = await unless(GRPC.notFound, service.describeSchedule({ namespace, scheduleId }));
    const schedule = found?.schedule;
    const action = schedule?.action?.startWorkflow;
    if (!action || !payloadsOf(action).some((payload) => codec.isOutdated(payload))) {
      return tried === 0 ? 'current' : 'reencrypted';
    }
    if (tried > 1) await delay(PAUSE_MS);
    const startWorkflow = await renewed(action, codec);
    if (!startWorkflow) return 'unreadable';
    // With the conflict token a concurrent change wins. A server may reject or ignore the loser: hence another check.
    const update = service.updateSchedule({
      namespace,
      scheduleId,
      schedule: { ...schedule, action: { startWorkflow } },
      conflictToken: found?.conflictToken,
      identity,
      requestId: randomUUID(),
    });
    await unless(GRPC.failedPrecondition, unless(GRPC.notFound, update));
  }
  throw new Error(`the schedule ${scheduleId} could not be encrypted with the first key: it keeps changing`);
}

function payloadsOf({ input, userMetadata }: Action): Payload[] {
  const texts = [userMetadata?.summary, userMetadata?.details];
  return [...(input?.payloads ?? []), ...texts].filter((payload) => payload !== null && payload !== undefined);
}

async function renewed(action: Action, codec: EncryptionCodec): Promise<Action | null> {
  const renew = async (payload: Payload | null | undefined) => payload && (await codec.renew(payload));
  const { input, userMetadata } = action;
  try {
    return {
      ...action,
      input: input && { payloads: await Promise.all((input.payloads ?? []).map((payload) => codec.renew(payload))) },
      userMetadata: userMetadata && {
        summary: await renew(userMetadata.summary),
        details: await renew(userMetadata.details),
      },
    };
  } catch (error) {
    if (error instanceof ValueError) return null;
    throw error;
  }
}

async function unless<T>(code: Parameters<typeof hasCode>[1], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (hasCode(error, code)) return null;
    throw error;
  }
}
