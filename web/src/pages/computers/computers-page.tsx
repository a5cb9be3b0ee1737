import { ApiError } from '@flotilla/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ActionsMenu } from '../../acting/actions-menu.tsx';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { QueryField } from '../../query/query-field.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { useRows } from '../../ui/use-rows.ts';
import { ColumnMenu } from './column-menu.tsx';
import { COLUMNS, type Computer, partsOf } from './columns.tsx';
import './computers.css';
import { SavedSearches } from './saved-searches.tsx';
import { StatusFilter, statusOf } from './status-filter.tsx';
import { useColumns } from './use-columns.ts';
import { type ComputerSelection, useComputerSelection } from './use-computer-selection.ts';

/** Computers: all of them, or those that a query finds. */
export function Page() {
  const { get, set } = usePageSearch();
  const navigate = useNavigate();
  const status = statusOf(get('status'));
  const { query, error } = useValidQuery(get('query'), status);
  const columns = useColumns();
  const rows = useRows<Computer>(['computers', 'list', query, status, columns.shown], async (page, signal) => {
    const found = { query, status, root_only: false, ...partsOf(columns.shown), ...page };
    return (await client.GET('/computers', { params: { query: found }, signal })).data;
  });
  const selection = useComputerSelection(query, rows.count ?? 0);
  return (
    <PageLayout
      title="Computers"
      fill
      actions={
        <>
          <Link className="button button-quiet" to="/computers/map" search={query === '' ? {} : { query }}>
            Map
          </Link>
          <StatusFilter status={status} onChange={(chosen) => set({ status: chosen })} />
          <ColumnMenu {...columns} />
        </>
      }
    >
      <div className="computers-query">
        <QueryField
          value={get('query')}
          onChange={(text) => set({ query: text === '' ? undefined : text })}
          error={error}
        />
        <SavedSearches query={query} onUse={(text) => set({ query: text })} />
      </div>
      <SelectionBar {...selection} total={rows.count} canSelectAll={status === 'active'} />
      {/* Before any query was understood there is nothing to show; what is wrong with it is above. */}
      {rows.count === null && isQueryError(error) ? null : (
        <DataTable
          label="Computers"
          columns={COLUMNS.filter(({ id }) => columns.shown.includes(id))}
          rows={{ ...rows, error: isQueryError(rows.error) ? null : rows.error }}
          rowKey={({ id }) => id}
          rowLabel={({ title }) => title}
          selection={selection.selection}
          onOpen={({ id }) => void navigate({ to: '/computers/$computerId', params: { computerId: String(id) } })}
          empty={<NoComputers query={query} status={status} />}
        />
      )}
    </PageLayout>
  );
}

/**
 * The last query that the server has understood, which the list shows, and what is wrong with the present one. A list that
 * vanished while a query is being typed would be in the way.
 */
function useValidQuery(typed: string, status: ReturnType<typeof statusOf>) {
  const [query, setQuery] = useState(typed);
  const check = useQuery({
    queryKey: ['computers', 'count', typed, status],
    queryFn: async ({ signal }) => {
      const found = { query: typed, status, root_only: false, limit: 0 };
      return (await client.GET('/computers', { params: { query: found }, signal })).data.count;
    },
    placeholderData: keepPreviousData,
  });
  if (check.isSuccess && !check.isPlaceholderData && query !== typed) setQuery(typed);
  return { query, error: check.error };
}

function isQueryError(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'InvalidQueryError';
}

const numbers = new Intl.NumberFormat();

function SelectionBar(props: ComputerSelection & { total: number | null; canSelectAll: boolean }) {
  const { selection, count, isAll, selectAll, targets, total, canSelectAll } = props;
  return (
    <div className="selection-bar">
      <span role="status">
        {total !== null && (total === 1 ? '1 computer' : `${numbers.format(total)} computers`)}
        {count > 0 && `, ${numbers.format(count)} selected`}
      </span>
      {canSelectAll && !isAll && total !== null && total > 0 && (
        <Button kind="quiet" onClick={selectAll}>
          Select all {numbers.format(total)}
        </Button>
      )}
      {targets && (
        <>
          <Button kind="quiet" onClick={selection.clear}>
            Clear selection
          </Button>
          <span className="selection-actions">
            <ActionsMenu targets={targets} count={count} />
          </span>
        </>
      )}
    </div>
  );
}

function NoComputers({ query, status }: { query: string; status: string }) {
  if (query !== '' || status === 'archived') {
    return <EmptyState title="No computer matches">Change the query, or clear it to see all computers.</EmptyState>;
  }
  return (
    <EmptyState title="There are no computers yet">
      A computer appears here when its agent has registered and was accepted. <Link to="/settings">Settings</Link> has
      the commands for that; computers that wait for a decision are on the <Link to="/">overview</Link>.
    </EmptyState>
  );
}
