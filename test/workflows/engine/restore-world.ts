import type { ReconcileCursor } from '../../../workflows/contracts/housekeeping.contract.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';

interface Child {
  id: number;
  status: string;
  text: string | null;
}

/** Workers, a dispatcher and a fleet, whose database is restored while the server continues. */
export interface RestoreWorld {
  runtime: ActivityRuntime;
  fleet: SqlFleet;
  /** One run of the reconciler, which goes on with the cursor of the one before. */
  reconcile(): Promise<void>;
  /** Changes what the server remembers of the reconciler's latest run. */
  alterCursor(change: (cursor: ReconcileCursor) => ReconcileCursor): void;
  children(group: number): Promise<Child[]>;
  /** Undefined when there is no such activity. */
  status(activity: number): Promise<string | undefined>;
  /** How many messages of a group wait to be handed out. */
  queued(group: number): Promise<number>;
  allAre(group: number, status: string): Promise<boolean>;
  /** The epoch that tokens of the whole system are given out under. */
  epoch(): Promise<number>;
  close(): Promise<void>;
}

export async function createRestoreWorld(size: number): Promise<RestoreWorld> {
  const runtime = await createActivityRuntime();
  await runtime.startWorker();
  runtime.startDispatcher();
  const { db } = runtime;
  const fleet = await createSqlFleet(db, size);
  let cursor: ReconcileCursor | null = null;
  const children = (group: number) =>
    db.query<Child & { [key: string]: unknown }>(
      'select id, status, result_text as text from activity where parent_id = $1 order by id',
      [group],
    );
  return {
    runtime,
    fleet,
    children,
    async reconcile() {
      ({ cursor } = await runtime.reconciler.reconcileWorkflows({ cursor }));
    },
    alterCursor(change) {
      cursor = change(cursor!);
    },
    async status(activity) {
      const [row] = await db.query<{ status: string }>('select status from activity where id = $1', [activity]);
      return row?.status;
    },
    async queued(group) {
      const [row] = await db.query<{ count: number }>(
        `select count(*)::int as count from agent_message m join activity a on a.id = m.activity_id
         where a.parent_id = $1 and m.state = 'queued'`,
        [group],
      );
      return row!.count;
    },
    allAre: async (group, status) => (await children(group)).every((child) => child.status === status),
    async epoch() {
      const [row] = await db.query<{ value: string }>(`select value from system_setting where key = 'token_epoch'`);
      return Number(row!.value);
    },
    close: () => runtime.close(),
  };
}
