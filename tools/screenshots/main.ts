import { join, resolve } from 'node:path';
import { createClient } from '@flotilla/client';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, signIn } from '../harness/chromium.ts';
import { createStack } from '../harness/stack.ts';
import { prepareDemoFleet } from './demo-fleet.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');
const EMAIL = 'admin@example.com';
const PASSWORD = 'Screenshots-4711';
const COMPUTERS = '200';
const SIZE = { width: 1400, height: 800 };
/** Live updates and charts settle in this time. */
const SETTLE_MS = 2000;

/** `npm run screenshots`: starts a demo fleet and takes the pictures of the page that README and guides show. */
async function takeScreenshots(): Promise<void> {
  const stack = await createStack({
    FLOTILLA_ADMIN_PASSWORD: PASSWORD,
    FLOTILLA_SIMULATED_COMPUTERS: COMPUTERS,
    FLOTILLA_WEB_PAGE: 'true',
  });
  let browser: Browser | null = null;
  try {
    await stack.start();
    print('A demo fleet runs');
    const demo = await prepareDemoFleet(
      createClient({ url: stack.url, credentials: { email: EMAIL, password: PASSWORD } }),
    );
    browser = await launchChromium();
    const page = await browser.newPage({ viewport: SIZE, baseURL: stack.url });
    await page.goto('/');
    await signIn(page, EMAIL, PASSWORD);
    await shoot(page, '/', 'page-overview');
    await shoot(page, '/computers', 'page-computers');
    await shoot(page, '/computers/map', 'page-map');
    await shoot(page, `/computers/${demo.computer}`, 'page-computer');
    await shoot(page, `/activities/${demo.activity}`, 'page-activity');
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, '/', 'page-overview-dark');
  } finally {
    await browser?.close();
    await stack.dispose();
  }
}

async function shoot(page: Page, path: string, name: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  print(`docs/images/${name}.png`);
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

await takeScreenshots();
