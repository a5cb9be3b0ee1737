import { randomBytes } from 'node:crypto';
import { context, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const CLOSE_TIMEOUT_MS = 1_500;

type Environment = Record<string, string | undefined>;

/**
 * Creates a tracer that exports to an OTLP collector over HTTP, configured by the standard variables.
 * @remarks Imported only by `tracing.ts`, and only when tracing is on.
 */
export function openExporter(
  role: string,
  env: Environment,
): { tracer: Tracer; useSpanId(id: string): void; close(): Promise<void> } {
  const ids = new SpanIds();
  const named = resourceFromAttributes({ 'service.name': `flotilla-${role}`, 'service.namespace': 'flotilla' });
  const resource = named.merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...batchOptions(env) });
  const provider = new TracerProvider({
    resource,
    sampler: chooseSampler(env),
    spanProcessors: [processor],
    idGenerator: ids,
    spanLimits: { attributeValueLengthLimit: 256 },
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    tracer: provider.getTracer('flotilla'),
    useSpanId: (id) => ids.use(id),
    async close() {
      const limit = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), limit]);
      context.disable();
    },
  };
}

/** Random ids, except for a span whose id was published before it is recorded. */
class SpanIds {
  #next: string | null = null;

  use(id: string): void {
    this.#next = id;
  }

  generateTraceId(): string {
    return randomBytes(16).toString('hex');
  }

  generateSpanId(): string {
    const id = this.#next ?? randomBytes(8).toString('hex');
    this.#next = null;
    return id;
  }
}

function chooseSampler(env: Environment): Sampler {
  const share = readNumber(env, 'OTEL_TRACES_SAMPLER_ARG', 0, 1) ?? 1;
  const bare: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  };
  const name = env['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on';
  const root = (bare[name.replace(/^parentbased_/, '')] ?? bare['always_on']!)();
  return name in bare ? root : new ParentBasedSampler({ root });
}

function batchOptions(env: Environment) {
  const most = 1_000_000;
  const delay = readNumber(env, 'OTEL_BSP_SCHEDULE_DELAY', 1, most);
  const timeout = readNumber(env, 'OTEL_BSP_EXPORT_TIMEOUT', 1, most);
  const queue = readNumber(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 1, most);
  const batch = readNumber(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1, most);
  return {
    ...(delay !== null && { scheduledDelayMillis: delay }),
    ...(timeout !== null && { exportTimeoutMillis: timeout }),
    ...(queue !== null && { maxQueueSize: queue }),
    ...(batch !== null && { maxExportBatchSize: batch }),
  };
}

function readNumber(env: Environment, name: string, from: number, to: number): number | null {
  const text = env[name]?.trim();
  const value = text ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : null;
}
