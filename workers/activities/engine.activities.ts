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
  const turns = rememberTurns(engine);
  const process = async (batch: number, cancelAll: boolean) =>
    limiter.run(await turns.keyOf(batch), () => engine.processPendingEvents(batch, cancelAll));
  const activities: EngineActivities & OperationActivities & CancelActivities = {
    processPendingEvents: ({ batch, cancelAll }) => process(batch, cancelAll),
    async queueMessage({ batch }) {
      await reports.wait(batch, DELIVERY_WAIT_MS, async () => (await turns.read(batch)).isReportExpected);
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

type Turn = Awaited<ReturnType<Engine['turnOf']>>;

/** Caches the keys of turns, up to a limit: the account of a batch never changes. */
function rememberTurns(engine: Engine) {
  const keys = new Map<number, string>();
  const read = async (batch: number): Promise<Turn> => {
    const turn = await engine.turnOf(batch);
    if (keys.size >= REMEMBERED) keys.delete(keys.keys().next().value!);
    keys.set(batch, keyFor(turn));
    return turn;
  };
  return { read, keyOf: async (batch: number): Promise<string> => keys.get(batch) ?? keyFor(await read(batch)) };
}

const keyFor = ({ account, isLarge }: Turn): string => `${account} ${isLarge ? 'large' : 'small'}`;
