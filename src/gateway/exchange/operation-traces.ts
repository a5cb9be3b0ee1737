import type { Sql } from '../../persistence/database/sql.ts';
import { SpanBudget } from '../../process/span-budget.ts';
import { isTracing, recordSpan, SpanKind } from '../../process/tracing.ts';

/** What one exchange did for operations of a computer. */
export interface Handled {
  computerId: number;
  /** When the exchange began, in ms since the epoch. */
  startMs: number;
  /** Operations handed out for the first time. */
  delivered: readonly number[];
  results: ReadonlyArray<{ operationId: number; ok: boolean }>;
}

/** Adds what gateways do for operations to the traces of the requests that ordered them. Costs nothing when tracing is off. */
export class OperationTraces {
  readonly #db: Sql;
  readonly #budget = new SpanBudget();

  constructor(db: Sql) {
    this.#db = db;
  }

  /** Records a span per delivery and per result whose order had a trace. Never rejects. */
  async record(handled: Handled): Promise<void> {
    if (!isTracing()) return;
    const { delivered, results, computerId, startMs } = handled;
    const ids = [...delivered, ...results.map(({ operationId }) => operationId)];
    if (ids.length === 0) return;
    const endMs = Date.now();
    const orders = await this.#read(ids).catch(() => []);
    const ok = new Map(results.map((result) => [result.operationId, result.ok]));
    for (const { id, lane, traceparent, type } of orders) {
      const attributes = { 'flotilla.activity_id': id, 'flotilla.lane_id': lane, 'flotilla.computer_id': computerId };
      const span = { parent: traceparent, attributes, startMs, endMs };
      if (delivered.includes(id) && this.#budget.take(traceparent)) {
        recordSpan({ ...span, name: `deliver ${type}`, kind: SpanKind.PRODUCER, failed: false });
      }
      const result = ok.get(id);
      if (result !== undefined && this.#budget.take(traceparent)) {
        recordSpan({ ...span, name: `result ${type}`, kind: SpanKind.CONSUMER, failed: !result });
      }
    }
  }

  #read(ids: readonly number[]) {
    return this.#db.query<{ id: number; lane: number; traceparent: string; type: string }>(
      ORDERS,
      [ids],
      'gateway-read-traces',
    );
  }
}

const ORDERS = `
  select m.activity_id as id, m.lane_id as lane, p.traceparent, p.message_type as type
  from agent_message m join operation_payload p on p.id = m.payload_id
  where m.activity_id = any($1::int[]) and p.traceparent is not null`;
