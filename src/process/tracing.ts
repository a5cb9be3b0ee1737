import {
  type Attributes,
  type Context,
  context,
  diag,
  isSpanContextValid,
  type ProxyTracerProvider,
  propagation,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { LRUCache } from 'lru-cache';
import type { ExportingProvider, ForeignSpan } from './tracing-exporter.ts';

export { type ForeignSpan, type Span, SpanKind };

function registeredProvider(): ExportingProvider | null {
  const provider = (trace.getTracerProvider() as ProxyTracerProvider).getDelegate();
  return 'exportSpan' in provider ? (provider as ExportingProvider) : null;
}

/** Whether {@link startTracing} turned tracing on. */
export function isTracing(): boolean {
  return registeredProvider() !== null;
}

interface TracingLog {
  info(message: string): void;
  warn(message: string): void;
}

interface Tracing {
  close(): Promise<void>;
}

/** Turns tracing on when the standard variables name an OTLP endpoint and none disables it; otherwise loads nothing. */
export async function startTracing(role: string, logger: TracingLog, env: NodeJS.ProcessEnv): Promise<Tracing> {
  const reason = disabledReason(env);
  if (reason !== null) {
    if (reason !== '') logger.warn(`no traces are recorded: ${reason}`);
    return { close: async () => undefined };
  }
  const { registerProvider } = await import('./tracing-exporter.ts');
  const registered = registerProvider(role);
  diag.setLogger(throttledExportLog(logger));
  logger.info('tracing is enabled');
  return registered;
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

/** The tracer of this process; records nothing while tracing is off. */
export function currentTracer(): Tracer {
  return trace.getTracer('flotilla');
}

/** Whether the active span is sampled. */
export function isRecording(): boolean {
  return trace.getActiveSpan()?.isRecording() === true;
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** W3C trace context of the parent; the active span when absent, none when null. */
  parent?: string | null;
}

/** Runs `work` in a span (null while tracing is off). A rejection marks it, without its message (user data). */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => Promise<T>,
): Promise<T> {
  if (!isTracing()) return work(null);
  const { parent, ...rest } = options;
  return await currentTracer().startActiveSpan(name, rest, contextOf(parent), async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** As {@link inSpan} within a recorded span; elsewhere just runs `work`. */
export function inChildSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  return isRecording() ? inSpan(name, {}, work) : work();
}

/** Marks a span as failed, with the error's type but not its message. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.setAttribute('error.type', error.name);
}

/** Adds attributes to the active span, if any. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

interface PastSpan extends SpanOptions {
  name: string;
  startMs: number;
  endMs: number;
  failed: boolean;
}

/** Records a span that has ended already; times in ms since the epoch. */
export function recordSpan({ name, startMs, endMs, failed, parent, ...rest }: PastSpan): void {
  const span = currentTracer().startSpan(name, { ...rest, startTime: startMs }, contextOf(parent));
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(endMs);
}

/** Exports a span that was recorded elsewhere, such as in the sandbox of workflows. */
export function exportSpan(span: ForeignSpan): void {
  registeredProvider()?.exportSpan(span);
}

/** W3C trace context of the active span; null when there is none. */
export function activeTraceparent(): string | null {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
}

/** Undefined without an active span. */
export function activeSpanContext(): SpanContext | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? span : undefined;
}

const TRACEPARENT_LENGTH = 55;

/** Parses a W3C trace context. @returns null when it is malformed or longer than those of version 00 */
export function parseTraceparent(text: string): SpanContext | null {
  return text.length === TRACEPARENT_LENGTH ? parseTraceParent(text) : null;
}

function contextOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  return propagation.extract(trace.deleteSpan(context.active()), { traceparent: parent });
}

/** An activity of a hundred thousand computers is one trace. */
const MAX_SPANS_PER_TRACE = 500;
const MAX_TRACES = 10_000;

/** Limits the spans per trace in this process; counts of the least recently used traces are dropped. */
export class SpanLimit {
  readonly #counts = new LRUCache<string, number>({ max: MAX_TRACES });

  /** Whether one more span may be recorded; counts it if so. */
  take(traceparent: string): boolean {
    const count = this.#counts.get(traceparent) ?? 0;
    if (count >= MAX_SPANS_PER_TRACE) return false;
    this.#counts.set(traceparent, count + 1);
    return true;
  }
}
