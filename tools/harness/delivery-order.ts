import type { TestStack } from './stack.ts';

/** What was carried out of each operation id and on which computer, as the agents wrote it down themselves. */
export type Executions = ReadonlyMap<number, readonly { computerId: number | null }[]>;

/** An operation as it was handed over to its computer for the first time. */
export interface Delivery {
  operation: number;
  computer: number;
  /** Place among everything that the computer was sent. */
  position: number;
  sentAtMs: number;
  /** From when on it could be handed over, if that was when it was accepted; else null. */
  dueAtMs: number | null;
  /** It was to follow an activity that did not succeed on its computer. */
  unmet: boolean;
}

/**
 * Everything that computers were given of the activities with a higher id.
 * @remarks Steps of chains and what needed approval are due by the clock of the process that let them go, which tests set
 * wrong: their moments cannot be compared with those of others.
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

/** Operations that were handed over although an earlier one of their computer was due, or what they were to follow failed. */
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
 * Operations that computers carried out in another order than they got them, by the agents' own execution logs.
 * @param except - computers whose agents may have carried something out twice or on two machines
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
