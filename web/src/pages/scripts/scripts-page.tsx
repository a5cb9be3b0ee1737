import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useRows } from '../../ui/use-rows.ts';
import type { ScriptItem } from './script-types.ts';
import { ScriptStatus } from './script-status.tsx';
import './scripts.css';

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'archived', label: 'Archived' },
  { value: 'redacted', label: 'Redacted' },
  { value: 'all', label: 'All' },
] as const;

/** The scripts of the account. */
export function Page() {
  const { status, search } = useFilters();
  const rows = useRows(['scripts', 'list', { status, search }], async (page, signal) => {
    const params = { query: { status, search, ...page } };
    return (await client.GET('/scripts', { params, signal })).data;
  });
  return (
    <PageLayout title="Scripts" actions={<NewScriptLink />} fill>
      <Filters />
      <DataTable label="Scripts" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} empty={<NoScripts />} />
    </PageLayout>
  );
}

function useFilters() {
  const { get, set } = usePageSearch();
  const status = STATUSES.find(({ value }) => value === get('status'))?.value ?? 'active';
  return { status, search: get('search'), set };
}

function NewScriptLink() {
  const can = useCan();
  if (!can('ManageScript')) return null;
  return (
    <Link className="button button-primary" to="/scripts/new">
      New script
    </Link>
  );
}

function Filters() {
  const { status, search, set } = useFilters();
  return (
    <div className="button-row">
      <input
        type="search"
        className="input script-search"
        aria-label="Search titles"
        placeholder="Search titles"
        value={search}
        maxLength={255}
        onChange={({ target }) => set({ search: target.value || undefined })}
      />
      <select
        className="input script-choice"
        aria-label="Status"
        value={status}
        onChange={({ target }) => set({ status: target.value === 'active' ? undefined : target.value })}
      >
        {STATUSES.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

function NoScripts() {
  const { status, search } = useFilters();
  if (search || status !== 'active') return <EmptyState title="No script matches" />;
  return (
    <EmptyState title="No scripts yet">
      <p>
        A script is text with an interpreter, such as <code>#!/bin/bash</code>. Flotilla keeps its versions, and runs it
        on the computers that you choose or, by a profile, on dates.
      </p>
    </EmptyState>
  );
}

const COLUMNS: ReadonlyArray<Column<ScriptItem>> = [
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(200px, 2fr)',
    cell: ({ id, title }) => (
      <Link to="/scripts/$scriptId" params={{ scriptId: String(id) }} title={title}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  { id: 'status', header: 'Status', width: '112px', cell: ({ status }) => <ScriptStatus status={status} /> },
  { id: 'version', header: 'Version', width: '80px', align: 'end', cell: ({ version_number }) => version_number },
  {
    id: 'interpreter',
    header: 'Interpreter',
    width: 'minmax(120px, 1fr)',
    cell: ({ interpreter }) => <bdi title={interpreter}>{interpreter}</bdi>,
  },
  { id: 'user', header: 'Runs as', width: '112px', cell: ({ username }) => <bdi title={username}>{username}</bdi> },
  {
    id: 'group',
    header: 'Access group',
    width: 'minmax(112px, 1fr)',
    cell: ({ access_group }) => <bdi title={access_group}>{access_group}</bdi>,
  },
  { id: 'profiles', header: 'Profiles', width: '80px', align: 'end', cell: (script) => script.script_profiles.length },
  { id: 'files', header: 'Files', width: '64px', align: 'end', cell: ({ attachments }) => attachments.length },
  {
    id: 'changed',
    header: 'Changed',
    width: '144px',
    cell: ({ last_edited_at }) => <Time value={`${last_edited_at}Z`} format="relative" />,
  },
  {
    id: 'by',
    header: 'By',
    width: 'minmax(120px, 1fr)',
    cell: ({ last_edited_by }) => <bdi title={last_edited_by.name}>{last_edited_by.name}</bdi>,
  },
];
