import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createClient } from '@flotilla/client';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, signIn } from '../harness/chromium.ts';
import { createStack } from '../harness/stack.ts';
import { type DemoFleet, prepareDemoFleet } from './demo-fleet.ts';
import { PICTURES, type Picture } from './pictures.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');
const EMAIL = 'admin@example.com';
const PASSWORD = 'Screenshots-4711';
const COMPUTERS = '200';
const SIZE = { width: 1400, height: 800 };
/** Live updates and charts settle in this time. */
const SETTLE_MS = 2000;

/**
 * `npm run screenshots`: starts a demo fleet and takes the pictures of the page that README and guides show, or those whose names
 * are given.
 */
async function takeScreenshots(names: readonly string[]): Promise<void> {
  const stack = await createStack({
    FLOTILLA_ADMIN_PASSWORD: PASSWORD,
    FLOTILLA_SIMULATED_COMPUTERS: COMPUTERS,
    FLOTILLA_WEB_PAGE: 'true',
    FLOTILLA_WEBHOOK_PRIVATE_ADDRESSES: 'true',
  });
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.end()));
  let browser: Browser | null = null;
  try {
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    const { port } = receiver.address() as AddressInfo;
    await stack.start();
    print('A demo fleet runs');
    const client = createClient({ url: stack.url, credentials: { email: EMAIL, password: PASSWORD } });
    const demo = await prepareDemoFleet(client, `http://127.0.0.1:${port}/flotilla`);
    browser = await launchChromium();
    const page = await browser.newPage({ viewport: SIZE, baseURL: stack.url });
    await page.goto('/');
    await signIn(page, EMAIL, PASSWORD);
    for (const picture of PICTURES) {
      if (names.length === 0 || names.includes(picture.name)) await take(page, picture, demo);
    }
  } finally {
    await browser?.close();
    receiver.close();
    await stack.dispose();
  }
}

async function take(page: Page, { name, path, isDark, prepare }: Picture, demo: DemoFleet): Promise<void> {
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  await page.goto(path(demo));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await prepare?.(page, demo);
  await page.waitForTimeout(SETTLE_MS);
  const loading = await page.getByRole('status', { name: 'Loading' }).count();
  if (loading > 0) throw new Error(`${path(demo)} is still loading`);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  print(`docs/images/${name}.png`);
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

await takeScreenshots(process.argv.slice(2));
