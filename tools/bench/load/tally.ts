import { latency } from '../harness/statistics.ts';
import type { LoadResult, Ports, RepeatRequest } from './load.contract.ts';
import { type RawResponse, RawConnection, requestBytes } from './raw-connection.ts';

/** Counters of one run. */
export class Tally {
  readonly times: number[] = [];
  failures = 0;
  bodyBytes = 0;
  readonly #startedAt = performance.now();

  async time(work: () => Promise<RawResponse | undefined>): Promise<void> {
    const from = performance.now();
    const response = await work();
    this.times.push(performance.now() - from);
    if (response && response.status !== 200) this.failures++;
    if (response) this.bodyBytes = response.body.length;
  }

  fail(error: unknown): void {
    this.failures++;
    process.stderr.write(`load: ${String(error)}\n`);
  }

  result(ids: number[] = []): LoadResult {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const { times, failures, bodyBytes } = this;
    return {
      requests: times.length,
      failures,
      seconds,
      latencyMs: latency(times),
      ids,
      bodyBytes,
      distinct: ids.length,
    };
  }
}

/** The port of one connection of many. */
export function portOf(ports: Ports, turn: number): number {
  return typeof ports === 'number' ? ports : ports[turn % ports.length]!;
}

/** The bytes of a request with each of its bodies. */
export function prepared(request: RepeatRequest): Buffer[] {
  const bodies = request.bodies.length > 0 ? request.bodies : [''];
  return bodies.map((body) => requestBytes(request.method, request.path, request.headers, Buffer.from(body)));
}

/** Opens so many connections, works on all of them at once, and closes them. */
export async function withConnections(
  ports: Ports,
  count: number,
  work: (connection: RawConnection, index: number) => Promise<void>,
): Promise<void> {
  const connections = await Promise.all(Array.from({ length: count }, (_, i) => RawConnection.open(portOf(ports, i))));
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
}
