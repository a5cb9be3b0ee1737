import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent } from './tracing.ts';

export type LogFields = Readonly<Record<string, string | number>>;

const fields = new AsyncLocalStorage<LogFields>();

/** Runs `work` with these fields, and those that apply already, in its log lines. */
export function withLogFields<T>(added: LogFields, work: () => T): T {
  return fields.run({ ...fields.getStore(), ...added }, work);
}

/** Undefined outside {@link withLogFields}. */
export function currentLogFields(): LogFields | undefined {
  return fields.getStore();
}

/** The trace id of a W3C trace context, also while tracing is off; nothing when it is null or malformed. */
export function traceField(traceparent: string | null): LogFields {
  const trace = traceparent === null ? null : parseTraceparent(traceparent);
  return trace ? { trace_id: trace.traceId } : {};
}
