import { ApiError } from '@flotilla/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { memo, useMemo, useState } from 'react';
import { ActionsMenu } from '../../acting/actions-menu.tsx';
import { usePageSearch } from '../../url/use-page-search.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState, PageLayout, Skeleton } from '../../ui/page.tsx';
import { type Selection, useSelection } from '../../ui/use-selection.ts';
import { CellStatus } from './cell-status.tsx';
import { GroupTable } from './group-table.tsx';
import { Legend } from './legend.tsx';
import { looksOf } from './looks.ts';
import { MapCanvas } from './map-canvas.tsx';
import { MapControls } from './map-controls.tsx';
import { countValues, type MapData } from './map-data.ts';
import { GROUPINGS, type MapView, useMap } from './use-map.ts';
import './map.css';

/** A cell for each computer, coloured by one question about it. */
export function Page() {
  const { get, set } = usePageSearch();
  const group = GROUPINGS.find((grouping) => grouping === get('group')) ?? 'none';
  const view: MapView = { query: get('query'), color: get('color', 'state'), group };
  const { data: read, error } = useMap(view);
  const data = useLast(read);
  const query = view.query === '' ? {} : { query: view.query };
  return (
    <PageLayout
      title="Map"
      fill
      actions={
        <Link to="/computers" search={query} className="button">
          As a list
        </Link>
      }
    >
      <MapControls view={view} error={error} onChange={set} />
      <ErrorMessage error={isQueryError(error) ? null : error} />
      {data === undefined && error === null && <Skeleton lines={8} />}
      {data?.count === 0 && <NoComputers isFiltered={view.query !== ''} />}
      {data !== undefined && data.count > 0 && (
        <MapArea
          data={data}
          group={group}
          highlight={get('highlight')}
          onHighlight={(name) => set({ highlight: name })}
        />
      )}
    </PageLayout>
  );
}

/** The last value: a map that vanished while a query is being typed would be in the way. */
function useLast<T>(value: T | undefined): T | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
}

function isQueryError(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'InvalidQueryError';
}

function NoComputers({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No computer matches this query">Change the query, or empty it.</EmptyState>;
  return <EmptyState title="No computers yet">A computer appears here as soon as it is accepted.</EmptyState>;
}

interface MapAreaProps {
  data: MapData;
  group: MapView['group'];
  /** The name of a value, or empty. */
  highlight: string;
  onHighlight: (name: string | undefined) => void;
}

function MapArea({ data, group, highlight, onHighlight }: MapAreaProps) {
  const navigate = useNavigate();
  const selection = useSelection('map');
  const [isSelecting, setSelecting] = useState(false);
  const [cursor, setCursor] = useState<number | null>(null);
  const looks = useMemo(() => looksOf(data.color, data.legend), [data.color, data.legend]);
  const counts = useMemo(() => countValues(data), [data]);
  const emphasized = data.legend.findIndex(({ name }) => name === highlight);
  return (
    <div className="map-area">
      <MapCanvas
        data={data}
        looks={looks}
        emphasized={emphasized < 0 ? null : emphasized}
        selected={selection.ids}
        isSelecting={isSelecting}
        describedBy="map-keys"
        onCursor={setCursor}
        onOpen={(id) => void navigate({ to: '/computers/$computerId', params: { computerId: String(id) } })}
        onSelect={(ids, isToggled) => (isToggled ? selection.toggle(ids[0]!) : selection.set(ids))}
        onClear={selection.clear}
      />
      <div className="map-side">
        <Legend data={data} looks={looks} counts={counts.all} highlight={highlight} onHighlight={onHighlight} />
        <CellStatus data={data} looks={looks} cell={cursor} />
        <SelectionBar selection={selection} isSelecting={isSelecting} onSelecting={setSelecting} />
        <GroupTable data={data} counts={counts} group={group} />
        <p id="map-keys" className="quiet">
          Drag to move, turn the wheel to zoom, click to open a computer; with Shift, dragging selects. Keys: arrows, +
          and −, 0 for the whole map, Enter to open, Space to select, Escape to select nothing.
        </p>
      </div>
    </div>
  );
}

/** Not made again while the pointer moves: a selection may have thousands of computers. */
const SelectedActions = memo(function SelectedActions({ ids }: { ids: ReadonlySet<number> }) {
  return <ActionsMenu targets={{ ids: [...ids] }} count={ids.size} />;
});

interface SelectionBarProps {
  selection: Selection;
  isSelecting: boolean;
  onSelecting: (isSelecting: boolean) => void;
}

function SelectionBar({ selection, isSelecting, onSelecting }: SelectionBarProps) {
  const { size } = selection.ids;
  return (
    <div className="button-row">
      <Button aria-pressed={isSelecting} onClick={() => onSelecting(!isSelecting)}>
        Select by dragging
      </Button>
      <span role="status">{size > 0 && `${size.toLocaleString()} selected`}</span>
      {size > 0 && (
        <>
          <SelectedActions ids={selection.ids} />
          <Button kind="quiet" onClick={selection.clear}>
            Clear
          </Button>
        </>
      )}
    </div>
  );
}
