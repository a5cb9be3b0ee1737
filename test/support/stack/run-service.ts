import { get, type IncomingMessage } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { inject } from 'vitest';

/**
 * Starts a service of the run unless another test file has, and returns how to reach it. Waits as long as the start
 * takes: it may build a program.
 */
export async function runService<T>(name: string): Promise<T> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${inject('runServicesUrl')}/${name}`, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(await text(response));
  return (await json(response)) as T;
}
