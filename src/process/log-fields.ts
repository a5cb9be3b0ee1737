import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent } from './tracing.ts';

/** What lines of the log say besides their own words: which request, workflow, lane they are about. */
export type LogFields = Readonly<Record<string, string | number>>;

const fields = new AsyncLocalStorage<LogFields>();

/** Runs `work`, whose lines of the log carry these fields, within what applies already. */
export function withLogFields<T>(added: LogFields, work: () => T): T {
  return fields.run({ ...fields.getStore(), ...added }, work);
}

/** The fields that apply here. */
export function currentLogFields(): LogFields | undefined {
  return fields.getStore();
}

/** The field of a W3C trace context, also where nothing is traced; none when it is null or malformed. */
export function traceField(traceparent: string | null): LogFields {
  const trace = traceparent === null ? null : parseTraceparent(traceparent);
  return trace ? { trace_id: trace.traceId } : {};
}
