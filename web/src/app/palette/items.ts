import { actionsFor } from '../../acting/actions.ts';
import type { PresentSelection } from '../../acting/selection.ts';
import { searchOf, type Targets } from '../../acting/targets.ts';
import type { Permission } from '../../session/session.ts';
import { SHORTCUTS } from '../shortcuts.ts';
import type { useFound } from './use-found.ts';

/** Something to go to. */
export interface PaletteItem {
  /** Identifies it among all. */
  value: string;
  label: string;
  /** What it is, when its group does not state it. */
  detail?: string;
  /** A path of this page with its parameters. */
  href: string;
}

export interface PaletteGroup {
  value: string;
  items: PaletteItem[];
}

const PAGES: readonly PaletteItem[] = [
  ...SHORTCUTS.map(({ to, label, key }) => ({ value: `page ${to}`, label, detail: `g ${key}`, href: to })),
  { value: 'page new script', label: 'New script', href: '/scripts/new' },
  { value: 'page new usg', label: 'New USG profile', href: '/profiles/usg/new' },
  { value: 'page new script profile', label: 'New script profile', href: '/profiles/script/new' },
];

/** Pages that only people with a permission can use. */
const NEEDED: Readonly<Record<string, Permission>> = {
  '/scripts/new': 'ManageScript',
  '/profiles/usg/new': 'ManageUsgProfile',
  '/profiles/script/new': 'ManageScriptProfile',
};

interface Sources {
  text: string;
  /** Null while the server has not answered for this text. */
  found: ReturnType<typeof useFound> | null;
  selection: PresentSelection | null;
  can: (permission: Permission) => boolean;
}

/** Everything that fits a text, by groups; those without an item are left out. */
export function paletteGroups({ text, found, selection, can }: Sources): PaletteGroup[] {
  const fits = ({ label }: { label: string }) => label.toLowerCase().includes(text.toLowerCase());
  const pages = PAGES.filter(({ href }) => NEEDED[href] === undefined || can(NEEDED[href]));
  const groups: PaletteGroup[] = [
    { value: 'Pages', items: pages.filter(fits) },
    { value: actionHeading(selection), items: actionItems(selection, can).filter(fits) },
    { value: 'Computers', items: computerItems(text, found?.computers ?? null) },
    { value: 'Activities', items: found?.activity ? [activityItem(found.activity)] : [] },
    { value: 'Scripts', items: titled(found?.scripts, 'script', '/scripts/') },
    {
      value: 'Profiles',
      items: [
        ...titled(found?.usg, 'usg', '/profiles/usg/', 'USG'),
        ...titled(found?.script, 'script profile', '/profiles/script/', 'Script'),
      ],
    },
    { value: 'Saved searches', items: searchItems(found?.searches ?? null).filter(fits) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

function actionHeading(selection: PresentSelection | null): string {
  const count = selection?.count ?? 0;
  return count === 1 ? 'Actions on this computer' : `Actions on ${count.toLocaleString()} computers`;
}

function actionItems(selection: PresentSelection | null, can: Sources['can']): PaletteItem[] {
  if (!selection) return [];
  const query = queryString(searchOf(selection.targets));
  return actionsFor(selection.count, can).map(({ id, label, group }) => ({
    value: `action ${id}`,
    label,
    detail: group,
    href: `/act/${id}?${query}`,
  }));
}

function computerItems(text: string, page: NonNullable<Sources['found']>['computers']): PaletteItem[] {
  if (!page) return [];
  const items = page.results.map(({ id, title }) => ({
    value: `computer ${id}`,
    label: title,
    href: `/computers/${id}`,
  }));
  if (page.count <= items.length) return items;
  const label = `All ${page.count.toLocaleString()} that fit “${text}”`;
  return [...items, { value: 'all computers', label, href: `/computers?${queryString({ query: text })}` }];
}

function activityItem({ id, summary }: { id: number; summary: string }): PaletteItem {
  return { value: `activity ${id}`, label: summary, detail: String(id), href: `/activities/${id}` };
}

function titled(
  rows: ReadonlyArray<{ id: number; title: string }> | null | undefined,
  kind: string,
  base: string,
  detail?: string,
): PaletteItem[] {
  return (rows ?? []).map(({ id, title }) => ({ value: `${kind} ${id}`, label: title, detail, href: `${base}${id}` }));
}

function searchItems(searches: NonNullable<Sources['found']>['searches']): PaletteItem[] {
  return (searches ?? []).map(({ name, title, search }) => ({
    value: `search ${name}`,
    label: title,
    detail: search,
    href: `/computers?${queryString({ query: `search:${name}` })}`,
  }));
}

/** Parameters as the router reads them: it takes what looks like a number for one, unless it is in quotes. */
function queryString(search: ReturnType<typeof searchOf> | Extract<Targets, { query: string }>): string {
  const entries = Object.entries(search).map(([name, value]) => [
    name,
    isPlain(value) ? String(value) : JSON.stringify(value),
  ]);
  return new URLSearchParams(entries).toString();
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}
