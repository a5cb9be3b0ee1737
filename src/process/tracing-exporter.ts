import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { getNumberFromEnv, getStringFromEnv, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const CLOSE_TIMEOUT_MS = 1_500;

export type ForeignSpan = Omit<ReadableSpan, 'resource'>;

/** Exports spans of this process, and spans that were recorded elsewhere. */
export class ExportingProvider extends TracerProvider {
  readonly exportSpan: (span: ForeignSpan) => void;

  constructor(role: string) {
    const named = resourceFromAttributes({ 'service.name': `flotilla-${role}`, 'service.namespace': 'flotilla' });
    const resource = named.merge(detectResources({ detectors: [envDetector] }));
    const processor = new IdsOnlyProcessor({
      exporter: new OTLPTraceExporter(),
      scheduledDelayMillis: getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY'),
      exportTimeoutMillis: getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT'),
      maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE'),
      maxExportBatchSize: getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    });
    const spanLimits = { attributeValueLengthLimit: 256 };
    super({ resource, sampler: chooseSampler(), spanProcessors: [processor], spanLimits });
    this.exportSpan = (span) => processor.onEnd({ ...span, resource });
  }

  /** Exports what is left, for 1.5 seconds at most. Never rejects. */
  async close(): Promise<void> {
    for (const api of [trace, context, propagation]) api.disable();
    const limit = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    await Promise.race([this.shutdown().catch(() => undefined), limit]);
  }
}

/** Exports to an OTLP collector by the standard variables. Imported by `tracing.ts` only, and when tracing is on. */
export function registerProvider(role: string): ExportingProvider {
  const provider = new ExportingProvider(role);
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return provider;
}

/** Exports an error's type, but not its message and stack, which could hold user data. */
class IdsOnlyProcessor extends BatchSpanProcessor {
  override onEnd(span: ReadableSpan): void {
    super.onEnd(span.events.length === 0 ? span : withoutContents(span));
  }
}

function withoutContents(span: ReadableSpan): ReadableSpan {
  const [type] = span.events.flatMap(({ attributes }) => attributes?.['exception.type'] ?? []);
  return Object.create(span, {
    attributes: { value: { ...span.attributes, 'error.type': type } },
    events: { value: [] },
    status: { value: { code: span.status.code } },
  }) as ReadableSpan;
}

function chooseSampler(): Sampler {
  const share = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;
  const bare: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  };
  const name = getStringFromEnv('OTEL_TRACES_SAMPLER')?.trim() ?? 'parentbased_always_on';
  const root = (bare[name.replace(/^parentbased_/, '')] ?? bare['always_on']!)();
  return name in bare ? root : new ParentBasedSampler({ root });
}
