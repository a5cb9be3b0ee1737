import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows, type RowSource } from '../../ui/use-rows.ts';
import { type ProfileRow, scriptRow, sortRows, usgRow } from './profile-rows.ts';
import { hasScriptProfilesQuery, scriptProfilesQuery, scriptTitlesQuery, usgProfilesQuery } from './queries.ts';
import type { ListStatus } from './profile-types.ts';
import './profiles.css';

const STATUSES: ReadonlyArray<{ value: ListStatus; label: string }> = [
  { value: 'active', label: 'Active' },
  { value: 'archived', label: 'Archived' },
  { value: 'all', label: 'Active and archived' },
];
const KINDS = [
  { value: 'all', label: 'All kinds' },
  { value: 'usg', label: 'USG' },
  { value: 'script', label: 'Script' },
];

/** Profiles of every kind. */
export function Page() {
  const rows = useProfiles();
  return (
    <PageLayout title="Profiles" actions={<NewProfile />} fill>
      <Filters />
      <DataTable label="Profiles" columns={COLUMNS} rows={rows} rowKey={rowKey} empty={<NoProfiles />} />
    </PageLayout>
  );
}

/** The chosen values of the filters, which the URL has. */
function useFilters() {
  const { get, set } = usePageSearch();
  const status = STATUSES.find(({ value }) => value === get('status'))?.value ?? 'active';
  const kind = KINDS.find(({ value }) => value === get('kind'))?.value ?? 'all';
  return { status, kind, search: get('search'), set };
}

function useProfiles(): RowSource<ProfileRow> {
  const can = useCan();
  const { status, kind, search } = useFilters();
  const wantsUsg = kind !== 'script' && can('ViewUsgProfile');
  const { data: hasScriptProfiles } = useQuery(hasScriptProfilesQuery);
  const wantsScript = kind !== 'usg' && can('ViewScriptProfile') && hasScriptProfiles === true;
  const usg = useQuery({ ...usgProfilesQuery({ status, search }), enabled: wantsUsg });
  const script = useQuery({ ...scriptProfilesQuery({ status, search }), enabled: wantsScript });
  const titles = useQuery({ ...scriptTitlesQuery, enabled: wantsScript && can('ViewScript') });
  const isKnown = hasScriptProfiles !== undefined && (!wantsUsg || usg.data) && (!wantsScript || script.data);
  const rows = useMemo(() => {
    if (!isKnown) return undefined;
    const scripts = titles.data ?? new Map<number, string>();
    const usgRows = wantsUsg ? (usg.data ?? []).map(usgRow) : [];
    const scriptRows = wantsScript ? (script.data ?? []).map((profile) => scriptRow(profile, scripts)) : [];
    return sortRows([...usgRows, ...scriptRows]);
  }, [isKnown, wantsUsg, wantsScript, usg.data, script.data, titles.data]);
  return allRows(rows, usg.error ?? script.error);
}

function Filters() {
  const { status, kind, search, set } = useFilters();
  return (
    <div className="button-row">
      <input
        type="search"
        className="input profile-search"
        aria-label="Search titles"
        placeholder="Search titles"
        value={search}
        maxLength={255}
        onChange={({ target }) => set({ search: target.value || undefined })}
      />
      <select
        className="input profile-choice"
        aria-label="Kind"
        value={kind}
        onChange={({ target }) => set({ kind: target.value === 'all' ? undefined : target.value })}
      >
        {KINDS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select
        className="input profile-choice"
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

function NewProfile() {
  const can = useCan();
  const navigate = useNavigate();
  const open = (kind: string) => void navigate({ to: '/profiles/$kind/new', params: { kind } });
  const usg = can('ManageUsgProfile');
  const { data: hasScriptProfiles } = useQuery(hasScriptProfilesQuery);
  const script = hasScriptProfiles === true && can('ManageScriptProfile') && can('ExecuteScript');
  if (!usg && !script) return null;
  return (
    <Menu label="New profile">
      {usg && <MenuItem onSelect={() => open('usg')}>USG profile: audit and fix on dates</MenuItem>}
      {script && <MenuItem onSelect={() => open('script')}>Script profile: run a script on dates</MenuItem>}
    </Menu>
  );
}

function NoProfiles() {
  const { status, kind, search } = useFilters();
  if (search || kind !== 'all' || status !== 'active') return <EmptyState title="No profile matches" />;
  return (
    <EmptyState title="No profiles yet">
      <p>
        A profile does something again and again on the computers that have its tags: a USG profile audits them against
        a benchmark and can fix what fails, a script profile runs a script.
      </p>
    </EmptyState>
  );
}

/** Ids of both kinds in one number. */
const rowKey = ({ kind, id }: ProfileRow) => (kind === 'usg' ? id : -id);

const COLUMNS: ReadonlyArray<Column<ProfileRow>> = [
  { id: 'status', header: 'Status', width: '136px', cell: (row) => <ProfileState row={row} /> },
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(200px, 2fr)',
    cell: ({ kind, id, title }) => (
      <Link to="/profiles/$kind/$profileId" params={{ kind, profileId: String(id) }} title={title}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  { id: 'kind', header: 'Kind', width: '80px', cell: ({ kind }) => (kind === 'usg' ? 'USG' : 'Script') },
  {
    id: 'what',
    header: 'Does',
    width: 'minmax(180px, 2fr)',
    cell: ({ what }) => <bdi title={what}>{what}</bdi>,
  },
  {
    id: 'scope',
    header: 'For',
    width: 'minmax(120px, 1fr)',
    cell: ({ allComputers, tags }) => {
      const text = allComputers ? 'All computers' : tags.join(', ');
      return <bdi title={text}>{text}</bdi>;
    },
  },
  { id: 'computers', header: 'Computers', width: '96px', align: 'end', cell: ({ computers }) => computers ?? '–' },
  {
    id: 'passing',
    header: 'Passing',
    width: '88px',
    align: 'end',
    cell: ({ passRate }) => (passRate === null ? '–' : `${passRate} %`),
  },
  { id: 'last', header: 'Last run', width: '144px', cell: ({ lastRun }) => <Time value={lastRun} format="relative" /> },
  { id: 'next', header: 'Next run', width: '184px', cell: ({ nextRun }) => <Time value={nextRun} /> },
];

function ProfileState({ row }: { row: ProfileRow }) {
  if (row.archived) return <StateMark tone="idle">Archived</StateMark>;
  if (row.hasOpenRun) return <StateMark tone="busy">Running</StateMark>;
  if (row.failing > 0) return <StateMark tone="bad">{`${row.failing} failing`}</StateMark>;
  if (row.passRate === 100) return <StateMark tone="good">Passing</StateMark>;
  return <StateMark tone="idle">Active</StateMark>;
}
