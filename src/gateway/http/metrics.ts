import type { Request, RequestHandler, Response } from 'express';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { CLIENT_CLOSED_REQUEST } from '../../process/http-response.ts';
import type { Fault } from '../facts/faults.ts';
import { EVERYTHING, REGISTER_ONLY } from './message-types.ts';

const EXCHANGE_OUTCOMES = ['accepted', 'repeated', 'late', 'clone', 'unknown', 'removed'] as const;
const ENROLMENT_OUTCOMES = ['approved', 'pending', 'refused', 'late'] as const;

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 512, 2000];
const KNOWN_TYPES = new Set([...EVERYTHING.types, ...REGISTER_ONLY.types]);
const OTHER = 'other';

function knownType(type: string): string {
  return KNOWN_TYPES.has(type) ? type : OTHER;
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/** Labels come from closed lists, to which agents cannot add values; counters used in alerts start at 0. */
export function createGatewayMetrics(registry: Registry) {
  const registers = [registry];
  const counter = (what: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `flotilla_gateway_${what}_total`, help, labelNames, registers });
  const exchanges = counter('exchanges', 'Exchanges of agents with an identity, by outcome', 'outcome');
  const messages = counter('messages_received', 'New messages of agents, by type', 'type');
  const faulty = counter('faulty_values', 'Reported values that were cut, left out or rejected', 'type', 'outcome');
  const operations = counter('operations_delivered', 'Operations sent for the first time');
  const results = counter('results', 'Results of operations that were waiting for one', 'outcome');
  const droppedOperations = counter('poisoned_messages', 'Operations dropped because an agent cannot handle them');
  const enrolments = counter('enrolments', 'Registrations by outcome', 'outcome');
  const pings = counter('pings', 'Pings by response', 'answer');
  const errors = counter('refusals', 'Requests of agents that got an error response, by error', 'code');
  for (const outcome of EXCHANGE_OUTCOMES) exchanges.inc({ outcome }, 0);
  for (const outcome of ENROLMENT_OUTCOMES) enrolments.inc({ outcome }, 0);
  const sizes = new Histogram({
    name: 'flotilla_gateway_batch_size',
    help: 'Calls served by one statement',
    labelNames: ['batch'] as const,
    buckets: SIZES,
    registers,
  });
  return {
    measured: measure(registry),
    exchanged: (outcome: (typeof EXCHANGE_OUTCOMES)[number]) => exchanges.inc({ outcome }),
    received: (types: Iterable<string>) => {
      for (const type of types) messages.inc({ type: knownType(type) });
    },
    faulty: (faults: Iterable<Fault>) => {
      for (const { type, outcome, count } of faults) faulty.inc({ type: knownType(type), outcome }, count);
    },
    sent: (count: number) => operations.inc(count),
    results: (oks: Iterable<boolean>) => {
      for (const ok of oks) results.inc({ outcome: ok ? 'succeeded' : 'failed' });
    },
    dropped: () => droppedOperations.inc(),
    enrolled: (outcome: (typeof ENROLMENT_OUTCOMES)[number]) => enrolments.inc({ outcome }),
    pinged: (status: string) => pings.inc({ answer: status }),
    rejected: (code: string) => errors.inc({ code }),
    batched: (batch: string, size: number) => sizes.observe({ batch }, size),
  };
}

function measure(registry: Registry) {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'flotilla_gateway_request_duration_seconds',
    help: 'Time from the head of a request of an agent to its response',
    labelNames: ['route', 'status'] as const,
    buckets: SECONDS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'flotilla_gateway_requests_in_flight',
    help: 'Requests of agents without a response yet',
    registers,
  });
  type Handler = (req: Request, res: Response) => Promise<void> | void;
  return (route: string, handler: Handler): RequestHandler =>
    (req, res) => {
      const startedAt = performance.now();
      inFlight.inc();
      res.once('close', () => {
        inFlight.dec();
        const status = res.writableFinished ? res.statusCode : CLIENT_CLOSED_REQUEST;
        seconds.observe({ route, status }, (performance.now() - startedAt) / 1000);
      });
      return handler(req, res);
    };
}
