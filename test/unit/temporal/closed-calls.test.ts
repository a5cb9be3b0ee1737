import { expect, it, onTestFinished, vi } from 'vitest';
import { openConnection } from '../../../temporal/client/connection.ts';

const NOBODY = '127.0.0.1:9';

/** Holds back the client's retries, each until it is called. */
function holdRetries(): (() => void)[] {
  const held: (() => void)[] = [];
  const start = setTimeout;
  const timer = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ...rest: [number]) => {
    if (run.name !== 'retry') return start(run, ...rest);
    return held.push(run);
  }) as typeof setTimeout);
  onTestFinished(() => timer.mockRestore());
  return held;
}

it.each([1, 2, 3])(
  'a connection that is closed after %d attempts of a call ends it, and harms nobody',
  async (attempts) => {
    const retries = holdRetries();
    const connection = openConnection({ temporalAddress: NOBODY });
    const call = connection.withDeadline(Date.now() + 60_000, () => connection.workflowService.getSystemInfo({}));
    const ended = call.then(
      () => 'returned',
      (error: Error) => error.message,
    );
    for (let failed = 1; failed <= attempts; failed++) {
      await expect.poll(() => retries.length).toBe(1);
      if (failed < attempts) retries.pop()!();
    }
    await connection.close();
    // An error would come out of a timer and end the process.
    expect(retries.pop()!).not.toThrow();
    expect(await ended).not.toBe('returned');
  },
);
