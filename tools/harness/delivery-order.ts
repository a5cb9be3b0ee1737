import type { TestStack } from './stack.ts';

/** Executions by operation id, from the agents' own logs. */
export type Executions = ReadonlyMap<number, readonly { computerId: number | null }[]>;

/** The first delivery of an operation to its computer. */
export interface Delivery {
  operation: number;
  computer: number;
  /** Position among all messages sent to the computer. */
  position: number;
  sentAtMs: number;
  /** Due time, if it is the time of acceptance; else null. */
  dueAtMs: number | null;
  /** It depended on an activity that did not succeed on its computer. */
  unmet: boolean;
}

/**
 * Reads all deliveries of activities with a higher id.
 * @remarks Due times of chained and approved operations come from the clock of the releasing process, which tests
 * shift: they cannot be compared with those of others.
 */
export function readDeliveries(stack: TestStack, activity = 0): Promise<Delivery[]> {
  return stack.rows<Delivery & { [key: string]: unknown }>(
    `select m.activity_id as operation, m.computer_id as computer, m.position::float8 as position,
       (extract(epoch from m.sent_at) * 1000)::float8 as "sentAtMs",
       case when a.blocked_by is null and not a.needed_approval and a.after_activity_id is null
         then (extract(epoch from m.deliver_at) * 1000)::float8 end as "dueAtMs",
       a.after_activity_id is not null and exists (
         select from activity k where k.computer_id = a.computer_id and k.status <> 'succeeded'
           and (k.id = a.after_activity_id or k.parent_id = a.after_activity_id)) as unmet
     from agent_message m join activity a on a.id = m.activity_id
     where m.position is not null and m.activity_id > $1 order by m.computer_id, m.position`,
    [activity],
  );
}

/** Operations delivered although an earlier one of their computer was due, or although their predecessor failed. */
export function outOfOrder(deliveries: readonly Delivery[]): string[] {
  const unmet = deliveries.filter((delivery) => delivery.unmet);
  const passing = [...Map.groupBy(deliveries, ({ computer }) => computer).values()].flatMap((own) =>
    own.flatMap((later) => {
      const passed = own.filter(
        ({ operation, position, sentAtMs, dueAtMs }) =>
          operation < later.operation &&
          position > later.position &&
          sentAtMs >= later.sentAtMs &&
          dueAtMs !== null &&
          dueAtMs <= later.sentAtMs,
      );
      return passed.map((earlier) => `computer ${later.computer} got ${later.operation} before ${earlier.operation}`);
    }),
  );
  return [
    ...unmet.map(({ computer, operation }) => `computer ${computer} got ${operation} without what goes before`),
    ...passing,
  ];
}

/**
 * Operations that computers ran in another order than they received them, by the agents' own execution logs.
 * @param except - computers whose agents may have run something twice or on two machines
 */
export function ranOutOfOrder(
  deliveries: readonly Delivery[],
  executions: Executions,
  except: ReadonlySet<number> = new Set(),
): string[] {
  const place = new Map([...executions.keys()].map((operation, index) => [operation, index]));
  return [...Map.groupBy(deliveries, ({ computer }) => computer)].flatMap(([computer, own]) => {
    if (except.has(computer)) return [];
    const ran = own.filter(({ operation }) => place.has(operation)).toSorted((a, b) => a.position - b.position);
    return ran
      .slice(1)
      .filter(({ operation }, index) => place.get(operation)! < place.get(ran[index]!.operation)!)
      .map(({ operation }) => `computer ${computer} carried out ${operation} before what it got earlier`);
  });
}
