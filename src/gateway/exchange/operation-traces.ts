import { readOperationTraces } from '../../persistence/agents/sessions.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { isTracing, recordSpan, SpanKind, SpanLimit } from '../../process/tracing.ts';

interface ExchangeEffects {
  computerId: number;
  startMs: number;
  sent: readonly number[];
  results: ReadonlyArray<{ operationId: number; ok: boolean }>;
}

/** Links exchanges to the traces of the requests that created their operations, up to a limit per trace. */
export class OperationTraces {
  readonly #db: Sql;
  readonly #budget = new SpanLimit();

  constructor(db: Sql) {
    this.#db = db;
  }

  /** Records a span per sent operation and per result that has a trace. Never rejects. */
  async record({ sent, results, computerId, startMs }: ExchangeEffects): Promise<void> {
    if (!isTracing()) return;
    const ids = [...sent, ...results.map(({ operationId }) => operationId)];
    if (ids.length === 0) return;
    const endMs = Date.now();
    const traces = await readOperationTraces(this.#db, ids).catch(() => []);
    const ok = new Map(results.map((result) => [result.operationId, result.ok]));
    for (const { id, batchId, traceparent, type } of traces) {
      const attributes = {
        'flotilla.activity_id': id,
        'flotilla.lane_id': batchId,
        'flotilla.computer_id': computerId,
      };
      const span = { parent: traceparent, attributes, startMs, endMs };
      if (sent.includes(id) && this.#budget.take(traceparent)) {
        recordSpan({ ...span, name: `deliver ${type}`, kind: SpanKind.PRODUCER, failed: false });
      }
      const result = ok.get(id);
      if (result !== undefined && this.#budget.take(traceparent)) {
        recordSpan({ ...span, name: `result ${type}`, kind: SpanKind.CONSUMER, failed: !result });
      }
    }
  }
}
