import { trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { activeTraceparent, inSpan, isTracing, parseTraceparent, startTracing } from '../../../src/process/tracing.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/http/servers.ts';

const TRACE = 'a'.repeat(32);
const PARENT = `00-${TRACE}-${'b'.repeat(16)}-01`;
const quiet = { info: () => undefined, warn: () => undefined };

describe('a W3C trace context', () => {
  it.each([
    ['is read', PARENT, { traceId: TRACE, spanId: 'b'.repeat(16), traceFlags: 1 }],
    ['of a later version is read', PARENT.replace('00-', 'cc-'), { traceId: TRACE }],
    ['of version ff is malformed', PARENT.replace('00-', 'ff-'), null],
    ['without a trace is malformed', PARENT.replace(TRACE, '0'.repeat(32)), null],
    ['in capitals is malformed', PARENT.toUpperCase(), null],
    ['with an addition is malformed', `${PARENT.replace('00-', '01-')}-more`, null],
  ])('%s', (_, text, expected) => {
    if (expected === null) expect(parseTraceparent(text)).toBeNull();
    else expect(parseTraceparent(text)).toMatchObject(expected);
  });
});

describe('tracing', () => {
  let receiver: OtlpReceiver;
  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
  });
  afterEach(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    await receiver.close();
  });

  it('continues the trace of a parent and passes it on', async () => {
    const tracing = await startTracing('test', quiet, process.env);
    const passed = await inSpan('work', { parent: PARENT }, async () => activeTraceparent());
    await tracing.close();
    const [span] = receiver.spans;
    expect(span).toMatchObject({
      name: 'work',
      traceId: TRACE,
      parentSpanId: 'b'.repeat(16),
      service: 'flotilla-test',
    });
    expect(passed).toBe(`00-${TRACE}-${span!.spanId}-01`);
  });

  it('exports the type of an error, but not its message or stack', async () => {
    const tracing = await startTracing('test', quiet, process.env);
    const failure = new RangeError('the password is hunter2');
    await inSpan('own', { parent: PARENT }, () => Promise.reject(failure)).catch(() => undefined);
    const span = trace.getTracer('library').startSpan('of a library');
    span.recordException(failure);
    span.setStatus({ code: 2, message: failure.message });
    span.end();
    await tracing.close();
    const failed = { failed: true, attributes: { 'error.type': 'RangeError' } };
    expect(receiver.spans).toMatchObject([failed, failed]);
    expect(receiver.bodies.join()).not.toContain('hunter2');
  });

  it('is over once it is closed, and may be started again', async () => {
    await (await startTracing('test', quiet, process.env)).close();
    expect(isTracing()).toBe(false);
    expect(await inSpan('late', { parent: PARENT }, async () => activeTraceparent())).toBeNull();
    const again = await startTracing('test', quiet, process.env);
    await inSpan('again', {}, async () => undefined);
    await again.close();
    expect(receiver.spans.map(({ name }) => name)).toEqual(['again']);
  });
});
