import { createStack } from '../../../tools/harness/stack.ts';
import type { RunService } from '../stack/global-setup.ts';

/** The stack that all tests of the page share: its address, the administrator's password, and its database. */
export interface WebStack {
  url: string;
  password: string;
  databaseUrl: string;
}

const COMPUTERS = '12';
const PASSWORD = 'Page-under-test-4711';

/** What the tests of the page have once in a run: a stack that serves it. */
export function webServices(): Record<string, RunService> {
  // Receivers of webhooks are on this machine.
  const settings = { FLOTILLA_SIMULATED_COMPUTERS: COMPUTERS, FLOTILLA_WEBHOOK_PRIVATE_ADDRESSES: 'true' };
  return { 'web-stack': { start: () => startWebStack(settings) } };
}

/** Starts a stack that serves the page. */
export async function startWebStack(settings: Record<string, string>) {
  const stack = await createStack({ FLOTILLA_ADMIN_PASSWORD: PASSWORD, FLOTILLA_WEB_PAGE: 'true', ...settings });
  try {
    await stack.start();
  } catch (error) {
    await stack.dispose();
    throw error;
  }
  const value = { url: stack.url, password: PASSWORD, databaseUrl: stack.databaseUrl() } satisfies WebStack;
  return { value, stop: () => stack.dispose() };
}
