import type { Client } from '@temporalio/client';
import { ConcurrencyLimiter } from '../../src/process/admission/concurrency-limiter.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import type {
  CancelActivities,
  EngineActivities,
  OperationActivities,
  ReleasedActivities,
} from '../../workflows/contracts/activities.ts';
import { cancelRunWith } from '../../temporal/client/workflow-calls.ts';
import { DELIVERY_WAIT_MS, type ReportNotifications } from '../dispatcher/report-notifications.ts';

/** Shorter than the timeout that workflows set for a local activity. */
const QUEUE_TIMEOUT_MS = 15_000;
const REMEMBERED = 10_000;

interface EngineActivitiesDeps {
  engine: Engine;
  client: Client;
  /** Those of the dispatcher in this process. */
  reports: ReportNotifications;
  concurrency?: number;
}

/** Also under 0.1.0 names. Accounts take turns, and in them batches by size. A call that waited too long fails. */
export function createEngineActivities({
  engine,
  client,
  reports,
  concurrency = 6,
}: EngineActivitiesDeps): EngineActivities &
  OperationActivities &
  CancelActivities &
  Pick<ReleasedActivities, 'advance' | 'begin' | 'settle' | 'requestCancel'> {
  const limiter = new ConcurrencyLimiter({
    concurrency,
    concurrencyPerKey: Math.max(1, Math.ceil(concurrency / 2)),
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
  });
  const turnOf = remember((batch) => engine.turnOf(batch));
  const process = async (batch: number, cancelAll: boolean) =>
    limiter.run(await turnOf(batch), () => engine.processPendingEvents(batch, cancelAll));
  const activities: EngineActivities & OperationActivities & CancelActivities = {
    processPendingEvents: ({ batch, cancelAll }) => process(batch, cancelAll),
    async queueMessage({ batch }) {
      await reports.wait(batch, DELIVERY_WAIT_MS, () => engine.isReportExpected(batch));
      return process(batch, false);
    },
    recordReport: ({ batch }) => process(batch, false),
    processDueTime: ({ batch }) => process(batch, false),
    cancelOperations: ({ batch }) => process(batch, true),
    listOpenBatches: ({ group }) => engine.listOpenBatches(group),
    getGroupProgress: ({ group, cancelAll }) => engine.getGroupProgress(group, cancelAll),
    cancelRun: cancelRunWith(client),
  };
  return {
    ...activities,
    advance: (batch, cancelAll) => activities.processPendingEvents({ batch, cancelAll }),
    begin: (group) => activities.listOpenBatches({ group }),
    settle: (group, cancelAll) => activities.getGroupProgress({ group, cancelAll }),
    requestCancel: (workflowId, runId) => activities.cancelRun({ workflowId, runId }),
  };
}

/** Caches the latest results, up to a limit: the account of a batch never changes. */
function remember(read: Engine['turnOf']): (batch: number) => Promise<string> {
  const known = new Map<number, string>();
  return async (batch) => {
    const found = known.get(batch);
    if (found !== undefined) return found;
    const { account, isLarge } = await read(batch);
    const turn = `${account} ${isLarge ? 'large' : 'small'}`;
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
    known.set(batch, turn);
    return turn;
  };
}
