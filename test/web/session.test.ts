import { describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { ADMINISTRATOR, expectAccessible, expectNoSideways, untilLoaded, useBrowser } from '../support/web/browser.ts';

const SECTIONS = [
  'Overview',
  'Computers',
  'Activities',
  'Profiles',
  'Scripts',
  'Alerts',
  'Events',
  'People',
  'Settings',
];

describe('the session of the page', () => {
  const browser = useBrowser();

  it('starts with email and password, on the page that was requested', async () => {
    const page = await browser.newPage();
    await page.goto('/alerts');
    await expectAccessible(page);
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    expect(new URL(page.url()).pathname).toBe('/alerts');
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Alerts']);
  });

  it('shows what is wrong with a password', async () => {
    const page = await browser.newPage();
    await page.goto('/');
    await page.getByLabel('Email').fill(ADMINISTRATOR);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it('keeps the token from scripts', async () => {
    const page = await browser.open('/');
    const visible = 'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])';
    expect(await page.evaluate<string>(visible)).not.toContain('eyJ');
    expect(await page.evaluate('document.cookie')).toBe('');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  });

  it('ends by Sign out, also on the server', async () => {
    const page = await browser.open('/');
    const [cookie] = await page.context().cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.context().addCookies([cookie!]);
    await page.goto('/');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('keeps what was typed through a reload, and forgets it by Sign out', async () => {
    const page = await browser.open('/scripts/new');
    const title = page.getByLabel('Title');
    await title.fill('half a script');
    await page.reload();
    await title.waitFor();
    expect(await title.inputValue()).toBe('half a script');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    await page.goto('/scripts/new');
    await title.waitFor();
    expect(await title.inputValue()).toBe('');
  });

  it('loads at most 170 kB at first, compressed', async () => {
    const page = await browser.newPage();
    let bytes = 0;
    page.on('response', (response) => {
      if (response.url().includes('/api/')) return;
      bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await page.goto('/');
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    await untilLoaded(page);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(170_000);
  });

  it.each(SECTIONS)(
    '%s is in the navigation, has one heading of its name and no accessibility violation',
    async (name) => {
      const page = await browser.open('/');
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
      const heading = page.getByRole('heading', { level: 1, name, exact: true });
      await heading.waitFor();
      await untilLoaded(page);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await expectAccessible(page);
      await page.setViewportSize({ width: 400, height: 800 });
      await expectNoSideways(page);
    },
  );
});
