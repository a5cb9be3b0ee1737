import {
  type Attributes,
  context,
  diag,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

export { type Span, SpanKind };

interface Recorder {
  tracer: Tracer;
  useSpanId(id: string): void;
}

let recorder: Recorder | null = null;

export function isTracing(): boolean {
  return recorder !== null;
}

export interface TracingLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface Tracing {
  /** Exports the remaining spans, within a short time. */
  close(): Promise<void>;
}

/**
 * Turns tracing on when the standard variables name an OTLP endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT` or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) and none disables it; otherwise loads nothing.
 * @param role - becomes `service.name` unless `OTEL_SERVICE_NAME` is set
 */
export async function startTracing(role: string, logger: TracingLog): Promise<Tracing> {
  const reason = disabledReason(process.env);
  if (reason !== null) {
    if (reason !== '') logger.warn(`no traces are recorded: ${reason}`);
    return { close: async () => undefined };
  }
  const { openExporter } = await import('./tracing-exporter.ts');
  const { tracer, useSpanId, close } = openExporter(role, process.env);
  diag.setLogger(throttledExportLog(logger));
  recorder = { tracer, useSpanId };
  logger.info('tracing is enabled');
  return {
    async close() {
      recorder = null;
      await close();
    },
  };
}

/** @returns null when tracing is on, '' when it is not configured, else what is wrong with the configuration */
function disabledReason(env: NodeJS.ProcessEnv): string | null {
  const text = (name: string): string => env[name]?.trim() ?? '';
  const endpoint = text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || text('OTEL_EXPORTER_OTLP_ENDPOINT');
  const exporter = text('OTEL_TRACES_EXPORTER') || 'otlp';
  if (endpoint === '' || exporter === 'none' || text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return '';
  if (exporter !== 'otlp') return `OTEL_TRACES_EXPORTER ${exporter} is not supported`;
  const protocol = text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || text('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc') return 'OTLP over gRPC is not supported';
  return URL.canParse(endpoint) ? null : 'the OTLP endpoint is not a URL';
}

const WARN_EVERY_MS = 60_000;

/** An unavailable collector fails every batch: logged once a minute, without the contents. */
function throttledExportLog(logger: TracingLog) {
  let warnedAt = 0;
  const warn = (): void => {
    if (Date.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = Date.now();
    logger.warn('traces could not be exported');
  };
  const nothing = (): void => undefined;
  return { error: warn, warn: nothing, info: nothing, debug: nothing, verbose: nothing };
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** W3C trace context of the parent; the active span when absent, none when null. */
  parent?: string | null;
}

/**
 * Runs `work` within a span. A rejection marks the span as failed, without the message, which could hold user data.
 * @param work - receives null while tracing is off
 */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => Promise<T>,
): Promise<T> {
  if (recorder === null) return work(null);
  const { parent, ...rest } = options;
  const within = parent === undefined ? context.active() : contextOf(parent);
  const span = recorder.tracer.startSpan(name, rest, within);
  try {
    return await context.with(trace.setSpan(within, span), () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** As {@link inSpan} within an active span; elsewhere just runs `work`. */
export function inChildSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (recorder === null || trace.getActiveSpan()?.isRecording() !== true) return work();
  return inSpan(name, {}, work);
}

/** Marks a span as failed, with the error's type but not its message. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.setAttribute('error.type', error.name);
}

export interface PastSpan extends SpanOptions {
  name: string;
  startMs: number;
  endMs: number;
  failed: boolean;
  /** Its id, when it was published before. */
  spanId?: string;
}

/** Records a span that has already ended. */
export function recordSpan({ name, startMs, endMs, failed, spanId, parent, ...rest }: PastSpan): void {
  if (recorder === null) return;
  if (spanId) recorder.useSpanId(spanId);
  const within = parent === undefined ? context.active() : contextOf(parent);
  const span = recorder.tracer.startSpan(name, { ...rest, startTime: startMs }, within);
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(endMs);
}

/** W3C trace context of the active span, to be propagated; null when there is none. */
export function activeTraceparent(): string | null {
  const span = recorder === null ? undefined : activeSpanContext();
  return span ? formatTraceparent(span) : null;
}

export function activeSpanContext(): SpanContext | undefined {
  if (recorder === null) return undefined;
  const span = trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? span : undefined;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

/** Parses a W3C trace context. @returns null when it is malformed */
export function parseTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (!traceId || !spanId || !flags) return null;
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(parsed) ? parsed : null;
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

function contextOf(traceparent: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const root = trace.deleteSpan(context.active());
  return parent ? trace.setSpanContext(root, parent) : root;
}
