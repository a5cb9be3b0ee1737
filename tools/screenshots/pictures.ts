import type { Page } from 'playwright-core';
import type { DemoFleet } from './demo-fleet.ts';

/** One picture of the page. */
export interface Picture {
  /** Of its file. */
  name: string;
  path(demo: DemoFleet): string;
  isDark?: boolean;
  /** What a person does before it is taken. */
  prepare?(page: Page, demo: DemoFleet): Promise<void>;
}

/** The pictures of README and guides. */
export const PICTURES: readonly Picture[] = [
  { name: 'page-overview', path: () => '/' },
  { name: 'page-overview-dark', path: () => '/', isDark: true },
  { name: 'page-computers', path: () => '/computers' },
  { name: 'page-query', path: () => '/computers', prepare: typeQuery },
  { name: 'page-map', path: () => '/computers/map' },
  { name: 'page-computer', path: ({ computer }) => `/computers/${computer}` },
  { name: 'page-action', path: () => '/act/install-snaps?query=tag:web&snaps=hello,jq' },
  { name: 'page-activity', path: ({ activity }) => `/activities/${activity}` },
  { name: 'page-profile-form', path: () => '/profiles/usg/new', prepare: fillProfile },
  { name: 'page-alerts', path: () => '/alerts' },
  { name: 'page-events', path: () => '/events?tab=live', prepare: (_, { act }) => act() },
  { name: 'page-webhook', path: ({ webhook }) => `/settings?tab=webhooks&webhook=${webhook}` },
  { name: 'page-enrolment', path: () => '/settings?tab=enrolment', prepare: nameServer },
];

async function typeQuery(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Query' }).pressSequentially('tag:production alert:');
  await page.getByRole('option').first().waitFor();
}

async function nameServer(page: Page): Promise<void> {
  await page.getByLabel('Address of the server for computers').fill('http://flotilla.example.com:8080');
}

async function fillProfile(page: Page): Promise<void> {
  await page.getByLabel('Title').fill('CIS level 2');
  await page.getByLabel('Tags').fill('production');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Repeat').selectOption({ label: 'Monthly' });
  await page.getByRole('region', { name: 'Next dates' }).scrollIntoViewIfNeeded();
}
