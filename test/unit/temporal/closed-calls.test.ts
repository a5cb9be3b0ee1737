import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openConnection } from '../../../temporal/connection.ts';

const NOBODY = '127.0.0.1:9';

describe('a connection that is closed while a call is tried again', () => {
  // The error would come out of a timer and end the process, which fails the test run.
  it.each([0, 30, 150, 400])('ends the call, %d ms into it, and harms nobody', async (ms) => {
    const connection = openConnection({ temporalAddress: NOBODY });
    const call = connection.withDeadline(Date.now() + 3000, () => connection.workflowService.getSystemInfo({}));
    const ended = call.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await sleep(ms);
    await connection.close();
    expect(await ended).not.toBe('answered');
    await sleep(600);
  });
});
